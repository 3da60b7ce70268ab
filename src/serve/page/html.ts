/** A file with one line lit. */
export const icon: string = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect x="5" y="2" width="22" height="28" rx="3" fill="#1f4f8f"/>
<g fill="#fff"><rect x="9" y="8" width="14" height="2" opacity=".55"/><rect x="9" y="14" width="14" height="4"/><rect x="9" y="22" width="10" height="2" opacity=".55"/></g>
</svg>
`;

export const html: string = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>canfetch: may this agent fetch this URL?</title>
<link rel="icon" type="image/svg+xml" href="/page/icon.svg">
<link rel="stylesheet" href="/page/style.css">
<script type="module" src="/page/main.js"></script>
</head>
<body>
<header>
<h1>canfetch</h1>
<p>May this agent fetch this URL, and why?</p>
</header>
<main>
<form id="question" autocomplete="off">
<fieldset class="modes">
<legend class="hidden">What to ask</legend>
<label><input type="radio" name="mode" value="site" checked><span>Ask a site</span></label>
<label><input type="radio" name="mode" value="text"><span>Try a robots.txt</span></label>
</fieldset>
<div class="fields" id="site-fields">
<label class="wide">URL
<input name="url" type="text" inputmode="url" autocapitalize="none" spellcheck="false" placeholder="https://example.com/page" required>
</label>
<label>Agent
<input name="agent" type="text" autocapitalize="none" spellcheck="false" placeholder="ExampleBot/1.0" aria-describedby="agent-hint">
</label>
<label>Compare with
<input name="compare" type="text" autocapitalize="none" spellcheck="false" value="*, Googlebot, Bingbot, GPTBot, ClaudeBot, CCBot" aria-describedby="agent-hint">
</label>
</div>
<div class="fields" id="text-fields" hidden>
<label class="wide">robots.txt
<textarea name="robots" rows="9" spellcheck="false" autocapitalize="none" placeholder="User-agent: *&#10;Disallow: /private/"></textarea>
</label>
<label>URLs or paths, one a line
<textarea name="urls" rows="4" spellcheck="false" autocapitalize="none" placeholder="/private/report&#10;https://example.com/page"></textarea>
</label>
<label>Agents
<input name="agents" type="text" autocapitalize="none" spellcheck="false" value="*, Googlebot, GPTBot" aria-describedby="agent-hint">
</label>
</div>
<p class="hint" id="agent-hint">An agent is a product token or a whole User-Agent; “*” is anybody whom no group names.</p>
<button type="submit">Check</button>
</form>
<p id="status" role="status"></p>
<div id="result" hidden></div>
</main>
<footer>
<p>The same as JSON: <a href="/openapi.json">openapi.json</a></p>
</footer>
<noscript><p class="noscript">This page needs its script. Without it: /v1/check?url=…&amp;agent=…</p></noscript>
</body>
</html>
`;
