/** Returns the body of a response, which no other id has. */
export function bodyOf(id: string, bytes: number): Buffer {
  return Buffer.alloc(bytes, `${id}.`);
}

/** Returns an event of a stream. */
export function eventOf(id: string, index: number): string {
  return `id: ${index}\ndata: ${id} ${"d".repeat(index % 200)}\n\n`;
}

/** Number of pieces of a model's text. */
const PIECES = 40;

/** Returns the pieces of a model's text. */
export function textOf(id: string): readonly string[] {
  return Array.from({ length: PIECES }, (_, index) => `${id} "${index}"\n`);
}
