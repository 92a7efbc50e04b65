import { foldsCase, oneRune, rune } from "./pattern-codes.ts";
import type { PatternInstruction, PatternProgram } from "./pattern-program.ts";
import { readCharacter } from "./reading.ts";

/** Whether a pattern asks for characters that texts do not have any more where they are seen as they read: `[\\x{200b}]`, `–`. */
export function asksForWriting({ instructions }: PatternProgram): boolean {
  return instructions.some(isOfWriting);
}

/** Whether an instruction takes a character, and not what that reads as. What takes all others too is not meant. */
function isOfWriting(instruction: PatternInstruction): boolean {
  const { op, arg, runes } = instruction;
  if ((op !== rune && op !== oneRune) || (arg & foldsCase) !== 0) return false;
  let takesAscii = false;
  for (let at = 0; at < runes.length; at += 2) {
    const from = runes[at] ?? 0;
    const to = runes[at + 1] ?? from;
    takesAscii ||= from < 128;
    // All there is beyond ASCII, as `[^a-z]` takes it.
    if (to === lastCodePoint && from <= 128) return !takesAscii;
    const last = Math.min(to, lastLookalike);
    for (let codePoint = Math.max(from, 128); codePoint <= last; codePoint++) {
      const read = readCharacter(String.fromCodePoint(codePoint));
      if (read !== String.fromCodePoint(codePoint) && !takes(instruction, read)) return true;
    }
  }
  return false;
}

function takes(instruction: PatternInstruction, text: string): boolean {
  return Array.from(text).some((each) => instruction.matchRune(each.codePointAt(0) ?? 0));
}

const lastCodePoint = 0x10ffff;

/** From here on no character reads as another one, but for tags, which nobody sees. */
const lastLookalike = 0x2fa1f;
