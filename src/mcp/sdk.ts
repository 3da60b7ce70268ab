/** The parts of `@modelcontextprotocol/sdk` that the server uses. */
export interface Sdk
  extends
    Pick<typeof import('@modelcontextprotocol/sdk/server/index.js'), 'Server'>,
    Pick<typeof import('@modelcontextprotocol/sdk/server/stdio.js'), 'StdioServerTransport'>,
    Pick<
      typeof import('@modelcontextprotocol/sdk/types.js'),
      'CallToolRequestSchema' | 'ErrorCode' | 'ListToolsRequestSchema' | 'McpError'
    > {}

/** Loads the SDK, an optional peer dependency; `undefined` when it is not installed. */
export async function loadSdk(): Promise<Sdk | undefined> {
  try {
    const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
      import('@modelcontextprotocol/sdk/server/index.js'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
      import('@modelcontextprotocol/sdk/types.js'),
    ]);
    const { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } = types;
    return {
      Server,
      StdioServerTransport,
      CallToolRequestSchema,
      ErrorCode,
      ListToolsRequestSchema,
      McpError,
    };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
