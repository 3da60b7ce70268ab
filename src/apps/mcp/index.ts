/**
 * Tools for AI agents over the Model Context Protocol: the decisions of the client, and pages that the guard lets
 * through.
 *
 * It may import `report/`, `client/` and `guard/`. It must not import `cli/` or `serve/`. The SDK of the protocol is an
 * optional peer: `loadSdk` loads it when `canfetch mcp` runs, and everything else here uses its types only.
 */
export { connectStdio, type HostConnection, loadSdk } from './connect-stdio.ts';
export { makeTools } from './tools.ts';
