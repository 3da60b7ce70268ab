/**
 * A script that runs in each document before its own scripts. It disables service workers, which would answer
 * navigations, and takes speculation rules out of the document, which make the browser load pages with requests that
 * cannot be paused.
 *
 * It is kept from what the page could replace later: it takes every function and getter of the platform before the page
 * runs, calls them by `Reflect.apply`, and iterates by index. The first document of a popup is watched from its opener
 * too, because the browser keeps its own observers waiting until the popup runs.
 */
export const INIT_SCRIPT = `{
  const { apply, getOwnPropertyDescriptor } = Reflect;
  const getter = (holder, name) => getOwnPropertyDescriptor(holder.prototype, name).get;
  const addedNodesOf = getter(MutationRecord, 'addedNodes');
  const targetOf = getter(MutationRecord, 'target');
  const lengthOf = getter(NodeList, 'length');
  const nodeTypeOf = getter(Node, 'nodeType');
  const localNameOf = getter(Element, 'localName');
  const { attachShadow, getAttribute, querySelectorAll, remove } = Element.prototype;
  const { observe, takeRecords } = MutationObserver.prototype;
  const { toLowerCase } = String.prototype;

  const removeRules = (script) => {
    const type = apply(getAttribute, script, ['type']);
    if (type !== null && apply(toLowerCase, type, []) === 'speculationrules') apply(remove, script, []);
  };
  const sweep = (node, within) => {
    if (apply(nodeTypeOf, node, []) !== 1) return;
    if (apply(localNameOf, node, []) === 'script') removeRules(node);
    if (!within) return;
    const scripts = apply(querySelectorAll, node, ['script']);
    const count = apply(lengthOf, scripts, []);
    for (let index = 0; index < count; index++) removeRules(scripts[index]);
  };
  const sweepAll = (records) => {
    // What runs while a script is removed may add another one.
    for (; records.length > 0; records = apply(takeRecords, observer, [])) {
      for (let index = 0; index < records.length; index++) {
        const record = records[index];
        // Rules can be written into a script that is in the document already.
        sweep(apply(targetOf, record, []), false);
        const added = apply(addedNodesOf, record, []);
        const count = apply(lengthOf, added, []);
        for (let at = 0; at < count; at++) sweep(added[at], true);
      }
    }
  };
  const observer = new MutationObserver(sweepAll);
  const watch = (root) => apply(observe, observer, [root, { __proto__: null, childList: true, subtree: true }]);
  const watchWindow = (opened) => {
    try {
      watch(opened.document);
    } catch {
      // There is no window, or its document is of another origin.
    }
    return opened;
  };
  watch(document);

  // Methods, so that they are no constructors, as those of the platform.
  Element.prototype.attachShadow = {
    attachShadow(...given) {
      const root = apply(attachShadow, this, given);
      watch(root);
      return root;
    },
  }.attachShadow;
  const { open } = window;
  window.open = {
    open(...given) {
      return watchWindow(apply(open, this, given));
    },
  }.open;
  const { open: openDocument } = Document.prototype;
  Document.prototype.open = {
    open(...given) {
      const opened = apply(openDocument, this, given);
      // With three arguments it is window.open.
      return given.length > 2 ? watchWindow(opened) : opened;
    },
  }.open;
  if (window.ServiceWorkerContainer) {
    ServiceWorkerContainer.prototype.register = {
      async register() {
        throw new DOMException('Service workers are disabled: their requests cannot be checked against robots.txt', 'SecurityError');
      },
    }.register;
  }
}
`;
