/** A request by the meaning of its text. */
export interface IndexedVector {
  /** Requests that differ only in this text; others are never compared. */
  readonly group: string;
  /** Key of its response. */
  readonly id: string;
  readonly vector: UnitVector;
}

/** Numbers of length 1, so that the product of two is the cosine of their angle. */
export interface UnitVector {
  readonly values: Float32Array;
  /** Lengths of the rests from the beginning of each block on. */
  readonly rests: Float32Array;
}

/** The most similar vector, and its cosine. */
export interface SimilarVector {
  readonly id: string;
  readonly score: number;
}

/** Blocks of a vector, after each of which a comparison may end. */
const BLOCKS = 16;

/** Returns a vector with the length 1; `undefined` if it has none, or numbers that are not finite. */
export function unitVector(numbers: ArrayLike<number>): UnitVector | undefined {
  const values = Float32Array.from(numbers);
  let sum = 0;
  for (const value of values) sum += value * value;
  const length = Math.sqrt(sum);
  if (length === 0 || !Number.isFinite(length)) return undefined;
  for (let i = 0; i < values.length; i++) values[i] = (values[i] ?? 0) / length;
  const rests = new Float32Array(BLOCKS + 1);
  const size = blockSize(values);
  let rest = 0;
  for (let block = BLOCKS - 1; block >= 0; block--) {
    for (let i = block * size; i < Math.min((block + 1) * size, values.length); i++)
      rest += (values[i] ?? 0) ** 2;
    rests[block] = Math.sqrt(rest);
  }
  return { values, rests };
}

/** Vectors in memory, in the order in which they were added. */
export class VectorIndex {
  readonly #groups = new Map<string, Map<string, Entry>>();
  /** All entries; the oldest one is first. */
  readonly #entries = new Set<Entry>();

  /** Adds or replaces a vector that lasts until `ends`. The oldest ones make room if there are more than `limit`. */
  add({ group, id, vector }: IndexedVector, ends: number, limit: number): void {
    this.remove(group, id);
    const entry = { group, id, vector, ends };
    const members = this.#groups.get(group) ?? new Map<string, Entry>();
    this.#groups.set(group, members.set(id, entry));
    this.#entries.add(entry);
    for (const oldest of this.#entries) {
      if (this.#entries.size <= limit) return;
      this.remove(oldest.group, oldest.id);
    }
  }

  remove(group: string, id: string): void {
    const members = this.#groups.get(group);
    const entry = members?.get(id);
    if (members === undefined || entry === undefined) return;
    members.delete(id);
    this.#entries.delete(entry);
    if (members.size === 0) this.#groups.delete(group);
  }

  /** Returns the most similar vector of a group whose cosine is at least `threshold`. */
  closest(
    group: string,
    { values, rests }: UnitVector,
    threshold: number,
    now: number,
  ): SimilarVector | undefined {
    let best: SimilarVector | undefined;
    let least = threshold;
    for (const { id, vector, ends } of this.#groups.get(group)?.values() ?? []) {
      if (ends <= now) this.remove(group, id);
      else if (vector.values.length === values.length) {
        const score = productFrom(least, values, rests, vector);
        if (score < least) continue;
        best = { id, score: Math.min(1, score) };
        least = score;
      }
    }
    return best;
  }
}

interface Entry extends IndexedVector {
  readonly ends: number;
}

/**
 * Returns the product of two vectors, or less than `least` if it is less. The product of the rests is at most that of their lengths,
 * so most comparisons end after a few blocks.
 */
function productFrom(
  least: number,
  values: Float32Array,
  rests: Float32Array,
  { values: others, rests: otherRests }: UnitVector,
): number {
  const size = blockSize(values);
  let sum = 0;
  for (let block = 0; block < BLOCKS; block++) {
    // Single precision must not drop a vector that is just similar enough.
    const most = (rests[block] ?? 0) * (otherRests[block] ?? 0) + ROUNDING;
    if (sum + most < least) return Number.NEGATIVE_INFINITY;
    const end = Math.min((block + 1) * size, values.length);
    for (let i = block * size; i < end; i++) sum += (values[i] ?? 0) * (others[i] ?? 0);
  }
  return sum;
}

const ROUNDING = 1e-5;

function blockSize({ length }: Float32Array): number {
  return Math.ceil(length / BLOCKS);
}
