/** Milliseconds that are counted at a time. */
const SLICE = 250;

/**
 * Calls back once this process has run for so many milliseconds. A pause in which it gets no processor counts as one slice at
 * most, and what arrived meanwhile is read before the callback, so that its own pause is no silence of another process. The
 * returned function cancels it.
 */
export function afterRunning(milliseconds: number, callback: () => void): () => void {
  let left = milliseconds;
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const wait = (): void => {
    const slice = Math.min(left, SLICE);
    left -= slice;
    if (slice > 0) timer = setTimeout(wait, slice);
    else turn = setImmediate(callback);
  };
  wait();
  return () => {
    clearTimeout(timer);
    clearImmediate(turn);
  };
}
