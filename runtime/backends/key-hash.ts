/** A text as 32 bits: FNV-1a over its UTF-16 code units, then mixed. The same in every process. */
export function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return mixed(hash);
}

/** A hash and another text as 32 bits. */
export function mixedHash(hash: number, text: string): number {
  return mixed(hash ^ Math.imul(textHash(text), 0x9e3779b1));
}

/** The last step of MurmurHash3: every bit of what goes in turns half of those that come out. */
function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
