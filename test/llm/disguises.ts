import fc from "fast-check";

// Made from Unicode's own data and from code charts, not from the gateway's tables.

/** Characters that Unicode decomposes to a letter or a digit with marks, or in brackets. */
const decomposed = new Map<string, string[]>();
/** Characters that have no shape of their own. */
const unseen: string[] = [];
for (let codePoint = 0; codePoint < 0xe1000; codePoint++) {
  if (codePoint === 0x3000) continue;
  const character = String.fromCodePoint(codePoint);
  if (/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(character)) {
    const isTag = codePoint >= 0xe0020 && codePoint < 0xe007f;
    if (!/[\t\n\f\r]/.test(character) && !isTag) unseen.push(character);
    continue;
  }
  if (codePoint < 0x80 || /[\p{Cn}\p{Co}\p{Cs}]/u.test(character)) continue;
  const [, plain] = /^\(?([A-Za-z0-9])\)?$/.exec(withoutMarks(character)) ?? [];
  if (plain === undefined) continue;
  // Key caps and squares have capitals alone.
  decomposed.set(plain, [...(decomposed.get(plain) ?? []), character]);
}
unseen.push("\u2800", "\u3164", "\u{e0001}", "\u{e007f}");

function withoutMarks(text: string): string {
  return text.normalize("NFKD").replaceAll(/\p{M}/gu, "");
}

const smallCapitals = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡ\u0000ʏᴢ";

/** Letters that have one case, behind each other from the code point of "A" on. */
const oneCase = [0x1f130, 0x1f150, 0x1f170, 0x1f1e6];

function shapesOf(character: string): readonly string[] {
  const code = character.charCodeAt(0);
  const shapes = [...(decomposed.get(character) ?? []), String.fromCodePoint(0xe0000 + code)];
  if (/[A-Za-z]/.test(character)) {
    const place = code & 0x1f;
    shapes.push(...oneCase.map((first) => String.fromCodePoint(first + place - 1)));
    const small = smallCapitals.charAt(place - 1);
    if (small !== "\u0000") shapes.push(small);
  }
  if (/[1-9]/.test(character)) {
    const place = Number(character) - 1;
    shapes.push(
      ...[0x2776, 0x2780, 0x278a, 0x24f5].map((first) => String.fromCodePoint(first + place)),
    );
  }
  return shapes;
}

const noise = fc.oneof(
  fc.constantFrom(...unseen),
  fc.constantFrom("\u0301", "\u0336", "\u20dd", "\u0489"),
  // A tag is a letter to models, or nothing.
  fc.integer({ min: 0xe0020, max: 0xe007e }).map((each) => String.fromCodePoint(each)),
);

/** A word, and the same word as a client may write it so that models read it. */
export interface Disguise {
  readonly word: string;
  readonly disguise: string;
}

/** A word of ASCII letters and digits, and a disguise of it. */
export const disguises: fc.Arbitrary<Disguise> = fc
  .array(
    fc
      .constantFrom(..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
      .chain((each) =>
        fc.record({
          character: fc.constant(each),
          shape: fc.oneof(
            { weight: 3, arbitrary: fc.constantFrom(...shapesOf(each)) },
            { weight: 1, arbitrary: fc.constant(each) },
          ),
          noise: fc.oneof(
            { weight: 2, arbitrary: fc.constant([]) },
            { weight: 1, arbitrary: fc.array(noise, { minLength: 1, maxLength: 4 }) },
          ),
        }),
      ),
    { minLength: 4, maxLength: 12 },
  )
  .map((letters) => ({
    word: letters.map(({ character }) => character).join(""),
    disguise: letters
      .map(
        ({ shape, noise: behind }, at) =>
          shape + (at === letters.length - 1 ? "" : behind.join("")),
      )
      .join(""),
  }));

/** Letters with marks, syllables, and letters of other scripts. */
const composed = [..."éüñçåÖßøсекретがパ비밀각ก็हिнайשלוםثم漢字"];

/** A word with letters that Unicode composes, and a disguise of it that is written apart. */
export const composedDisguises: fc.Arbitrary<Disguise> = fc
  .array(
    fc.record({
      character: fc.oneof(fc.constantFrom(...composed), fc.constantFrom(..."Mlr0")),
      form: fc.constantFrom("NFC", "NFD"),
      noise: fc.oneof(
        { weight: 2, arbitrary: fc.constant([]) },
        {
          weight: 1,
          arbitrary: fc.array(fc.constantFrom(...unseen), { minLength: 1, maxLength: 4 }),
        },
      ),
    }),
    { minLength: 3, maxLength: 8 },
  )
  .map((letters) => ({
    word: letters
      .map(({ character }) => character)
      .join("")
      .normalize("NFC"),
    disguise: letters
      .map(({ character, form, noise: behind }, at) => {
        const isLast = at === letters.length - 1;
        return character.normalize(isLast ? "NFC" : form) + (isLast ? "" : behind.join(""));
      })
      .join(""),
  }))
  // Adjacent letters of a syllable are composed to another one.
  .filter(({ word, disguise }) => disguise.normalize("NFC").length >= word.length);

/** A text in pieces, cut anywhere: in the middle of characters as well. */
export function cut(text: string, places: readonly number[]): readonly string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
}
