/** Contrast of every text is at least 4.5 to 1 (WCAG 2.2 AA), in the light and in the dark. */
export const style: string = `:root {
  color-scheme: light dark;
  --paper: #ffffff; --ground: #f5f6f8; --ink: #1c2430; --quiet: #59636f; --line: #d5dae1; --field: #8a94a1;
  --accent: #1f4f8f; --on-accent: #ffffff;
  --good: #0f6b3a; --good-bg: #e4f4ea; --bad: #a8201a; --bad-bg: #fcebea; --unsure: #7a4d00; --unsure-bg: #fdf2d8;
  --group: #1f4f8f; --second-bg: #eceff4;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #171b21; --ground: #0f1216; --ink: #e3e7ec; --quiet: #9aa5b1; --line: #2e353e; --field: #6f7a87;
    --accent: #8db9f5; --on-accent: #0d1a2b;
    --good: #6fd29a; --good-bg: #12301f; --bad: #ff9c94; --bad-bg: #3a1917; --unsure: #f0c469; --unsure-bg: #33270d;
    --group: #8db9f5; --second-bg: #262d36;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; }
body { margin: 0 auto; max-width: 64rem; padding: 1.5rem 1rem 3rem; overflow-wrap: anywhere; }
h1, h2, p { margin: 0; }
h1 { font: 600 1.375rem/1.2 var(--mono); }
h2 { font-size: 1rem; font-weight: 600; margin-bottom: .5rem; }
a { color: var(--accent); }
code, .foreign { font-family: var(--mono); font-size: .9em; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem .75rem; margin-bottom: 1rem; }
header p, .hint, footer { color: var(--quiet); }
footer { margin-top: 2rem; font-size: .875rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

form, #result > section, #result > div > section, .banner + dl { background: var(--paper); }
form { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; }
.modes { display: flex; width: fit-content; max-width: 100%; margin: 0 0 1rem; padding: 0; border: 1px solid var(--field); border-radius: .375rem; overflow: hidden; }
.modes label { position: relative; }
.modes input { position: absolute; opacity: 0; inset: 0; width: 100%; height: 100%; margin: 0; cursor: pointer; }
.modes span { display: block; padding: .375rem .875rem; }
.modes input:checked + span { background: var(--accent); color: var(--on-accent); }
.modes input:focus-visible + span { outline: 3px solid var(--ink); outline-offset: -4px; }
.fields { display: grid; grid-template-columns: 1fr 2fr; gap: .75rem; }
.fields label { display: block; min-width: 0; font-size: .875rem; font-weight: 600; }
.fields .wide { grid-column: 1 / -1; }
#text-fields { grid-template-columns: 2fr 1fr; }
input[type=text], textarea { display: block; width: 100%; min-width: 0; margin-top: .25rem; padding: .5rem .625rem; border: 1px solid var(--field); border-radius: .375rem; background: var(--paper); color: var(--ink); font: .9375rem/1.45 var(--mono); }
textarea { resize: vertical; }
::placeholder { color: var(--quiet); opacity: 1; }
.hint { margin: .625rem 0 .875rem; font-size: .875rem; }
button { font: inherit; color: inherit; cursor: pointer; }
form button { padding: .5rem 1.5rem; border: 0; border-radius: .375rem; background: var(--accent); color: var(--on-accent); font-weight: 600; }
#status { min-height: 1.5rem; margin: .5rem 0; color: var(--quiet); font-size: .875rem; }
#status.hidden { min-height: 0; margin: 0; }
#result { margin-top: 1rem; }
#status.error { color: var(--bad); font-weight: 600; }
[aria-busy] { opacity: .6; }

.banner { padding: 1rem; border: 1px solid currentColor; border-left-width: .375rem; border-radius: .5rem .5rem 0 0; }
.banner.allowed { background: var(--good-bg); color: var(--good); }
.banner.disallowed { background: var(--bad-bg); color: var(--bad); }
.banner.undecided { background: var(--unsure-bg); color: var(--unsure); }
.banner .asked, .banner .because { color: var(--ink); }
.big { font-size: 1.5rem; line-height: 1.25; margin-bottom: .25rem; }
.verdict { display: inline-flex; gap: .375em; align-items: baseline; font-weight: 600; white-space: nowrap; }
.verdict.allowed { color: var(--good); } .verdict.disallowed { color: var(--bad); } .verdict.undecided { color: var(--unsure); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; padding: .875rem 1rem; border: 1px solid var(--line); border-top: 0; border-radius: 0 0 .5rem .5rem; background: var(--paper); font-size: .9375rem; }
dt { color: var(--quiet); } dd { margin: 0; min-width: 0; }
section { margin-top: 1rem; padding: 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--paper); }

.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
th, td { padding: .375rem .75rem .375rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: baseline; }
thead th { border-top: 0; color: var(--quiet); font-size: .8125rem; font-weight: 400; }
tbody th { font-weight: 400; }
th button, td button { padding: .125rem .5rem; border: 1px solid var(--line); border-radius: .375rem; background: transparent; text-align: left; }
th button:hover, td button:hover { border-color: var(--field); }
[aria-pressed=true] { border-color: var(--accent) !important; box-shadow: inset 0 0 0 1px var(--accent); }
.matrix th, .matrix td { min-width: 7.5rem; } .matrix tbody th { min-width: 12rem; }
.at { color: var(--quiet); font-size: .875em; white-space: nowrap; }
.wrong { color: var(--unsure); }
.usage { width: auto; min-width: 18rem; max-width: 100%; }
.sources { margin: .5rem 0 0; padding-left: 1.25rem; color: var(--quiet); font-size: .875rem; }

.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-bottom: .5rem; color: var(--quiet); font-size: .8125rem; }
.key::before { content: ""; display: inline-block; width: .875rem; height: .875rem; margin-right: .375rem; vertical-align: -.125rem; border-radius: 2px; }
.key.group::before { width: .25rem; background: var(--group); }
.key.lit::before { background: var(--second-bg); box-shadow: inset 0 0 0 2px var(--ink); }
.key.second::before { background: var(--second-bg); box-shadow: inset 0 0 0 1px var(--field); }
.file { position: relative; max-height: 42rem; overflow-y: auto; border: 1px solid var(--line); border-radius: .375rem; }
.lines { --digits: 2; margin: 0; padding: .375rem 0; list-style: none; font: .875rem/1.6 var(--mono); }
.lines li { display: flex; border-left: .25rem solid transparent; padding-right: .5rem; scroll-margin: 4rem; }
.lines .in-group { border-left-color: var(--group); }
.mark { flex: none; width: 1.5rem; text-align: center; }
.mark a { display: inline-block; width: 1.125rem; border-radius: 3px; text-decoration: none; font-weight: 700; font-size: .75rem; line-height: 1.125rem; }
.mark .error { color: var(--bad); background: var(--bad-bg); } .mark .warning { color: var(--unsure); background: var(--unsure-bg); } .mark .info { color: var(--accent); background: var(--second-bg); }
.number { flex: none; min-width: calc(var(--digits) * 1ch + .25rem); margin-right: .75rem; color: var(--quiet); text-align: right; user-select: none; }
.lines code { flex: 1; min-width: 0; font: inherit; white-space: pre-wrap; unicode-bidi: isolate; }
.lines .runner-up { background: var(--second-bg); }
.lines .decides.allowed { background: var(--good-bg); box-shadow: inset 0 0 0 1px var(--good); }
.lines .decides.disallowed { background: var(--bad-bg); box-shadow: inset 0 0 0 1px var(--bad); }
.decides code, .decides .number { font-weight: 700; color: var(--ink); }
.badge { flex: none; align-self: center; margin-left: .5rem; padding: 0 .4rem; border-radius: .25rem; font: 600 .75rem/1.4 system-ui, sans-serif; color: var(--ink); border: 1px solid currentColor; }
.decides.allowed .badge { color: var(--good); } .decides.disallowed .badge { color: var(--bad); }
.gap { padding-left: 1.5rem; } .gap button { margin: .25rem 0; padding: 0 .5rem; border: 1px dashed var(--field); border-radius: .25rem; background: transparent; color: var(--accent); font: .8125rem/1.6 system-ui, sans-serif; }
.invisible { padding: 0 .2em; border-radius: 2px; background: var(--unsure-bg); color: var(--unsure); font-size: .75em; }
.cut { color: var(--quiet); font-style: italic; }
.notes { margin: 0; padding: 0; list-style: none; font-size: .9375rem; }
.notes li { padding: .375rem 0; border-top: 1px solid var(--line); } .notes li:first-child { border-top: 0; padding-top: 0; }
.notes .error { color: var(--bad); } .notes .warning { color: var(--unsure); } .notes .info { color: var(--accent); }
details { color: var(--quiet); font-size: .875rem; } summary { cursor: pointer; width: fit-content; }

.timeline { margin: 0; padding: 0; list-style: none; font-size: .9375rem; }
.timeline li { position: relative; display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .25rem 0 .25rem 1.5rem; }
.timeline li::before { content: ""; position: absolute; left: .25rem; top: .625rem; width: .625rem; height: .625rem; border-radius: 50%; background: var(--accent); }
.timeline li::after { content: ""; position: absolute; left: .5rem; top: 1.25rem; bottom: -.625rem; width: .125rem; background: var(--line); }
.timeline li:last-child::after { display: none; }
.timeline .ahead::before { background: var(--paper); box-shadow: inset 0 0 0 2px var(--accent); }
.timeline .first-failure::before, .timeline .last-failure::before { background: var(--bad); }
.timeline .now { color: var(--ink); font-weight: 600; } .timeline .now::before { background: var(--ink); border-radius: 0; height: .25rem; top: .875rem; }
.detail, .timeline time { color: var(--quiet); } .timeline time { font-variant-numeric: tabular-nums; } .timeline .at { margin-left: .75rem; }
.noscript { padding: 1rem; }

@media (max-width: 40rem) {
  body { padding: 1rem .75rem 2rem; }
  .fields, #text-fields { grid-template-columns: minmax(0, 1fr); }
  form, section { padding: .75rem; }
  form button { width: 100%; }
  .facts { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { margin-bottom: .375rem; }
  .lines { font-size: .8125rem; } .number { margin-right: .5rem; } .mark { width: 1.25rem; }
  .agents thead { display: none; }
  .agents tr { display: flex; flex-wrap: wrap; gap: .125rem .75rem; padding: .5rem 0; border-top: 1px solid var(--line); }
  .agents th, .agents td { padding: 0; border: 0; } .agents .why { flex-basis: 100%; } .agents td:last-child { display: none; }
  .usage { min-width: 0; width: 100%; }
  input[type=text], textarea { font-size: 1rem; }
}
@media (prefers-contrast: more) { :root { --quiet: var(--ink); --line: var(--field); } }
`;
