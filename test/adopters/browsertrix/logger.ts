/** What the recipe uses of browsertrix-crawler's `src/util/logger.ts`. */
export type LogDetails = Readonly<Record<string, unknown>>;

export const logger = {
  warnings: [] as { readonly message: string; readonly data: LogDetails; readonly context: string }[],
  warn(message: string, data: LogDetails, context: string): void {
    this.warnings.push({ message, data, context });
  },
};
