/** How often a timer that only holds the host fires, in ms. */
const HOLD_MS = 60_000;

/** The same promise; until it settles it keeps the host alive, though everything it waits for is unref'd. */
export async function holding<T>(promise: Promise<T>, background: boolean): Promise<T> {
  if (background) return promise;
  const hold = setInterval(() => {}, HOLD_MS);
  try {
    return await promise;
  } finally {
    clearInterval(hold);
  }
}
