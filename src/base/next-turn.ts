/** Resolves when other work of the event loop has had its turn: `setImmediate`, which browsers and Workers lack. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
