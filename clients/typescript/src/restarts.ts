/** So many ends within this time, in ms, and it is given up. */
const LIMIT = 5;
const WINDOW_MS = 180_000;

const FIRST_DELAY_MS = 250;

/** How long to wait, in ms, before a server that has ended at these times is started again; null gives up. */
export function restartDelayMs(endedAt: readonly number[], now: number): number | null {
  const recent = endedAt.filter((time) => now - time < WINDOW_MS).length;
  return recent >= LIMIT ? null : FIRST_DELAY_MS * 2 ** Math.max(0, recent - 1);
}
