/**
 * Finds the known word nearest to a misspelled one; `undefined` if none differs in at most `limit` letters, by default a
 * third of the word.
 */
export function suggest(
  word: string,
  known: readonly string[],
  limit = Math.max(1, Math.floor(word.length / 3)),
): string | undefined {
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    // No distance is smaller than the difference of the lengths.
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(lower, candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * Computes the optimal string alignment distance: insertions, deletions, substitutions, and swapped neighbors.
 * Distances from `limit` on are not computed exactly.
 */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(value);
    }
    if (Math.min(...row, ...last) >= limit) return limit;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
