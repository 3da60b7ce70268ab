/**
 * Runs in each document before the scripts of the document. It disables service workers, which could respond to
 * navigations, and removes speculation rules, which make the browser load pages with requests that cannot be paused.
 *
 * Pages can replace what they find, so it takes every function and getter of the platform at once, calls them by
 * `Reflect.apply`, and iterates by index. It also watches the first document of a popup from the opener, because the
 * observers of the popup run late.
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
    // Removing a script can run code that adds another one.
    for (; records.length > 0; records = apply(takeRecords, observer, [])) {
      for (let index = 0; index < records.length; index++) {
        const record = records[index];
        // Rules can be written into a script that is already in the document.
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
      // There is no window, or its document belongs to another origin.
    }
    return opened;
  };
  watch(document);

  // Method shorthand: not constructible, like the natives.
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
      // With three arguments it acts as window.open.
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
