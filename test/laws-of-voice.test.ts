import { expect, it } from "vitest";
import { voicedFiles, voiceFindings } from "./voice/voice.ts";

/** Text that the rules forbid and that has to stay, with the reason. */
const EXCEPTIONS: readonly (readonly [text: RegExp, reason: string])[] = [
  [/\bgroup-beside-others\b/, "codes of diagnostics are permanent"],
  [/the reason is none, expected/, "`none` is the printed value"],
];

it("text is plain technical English: `node test/voice/report.ts FOLDER` lists what is not", () => {
  const findings = voicedFiles()
    .flatMap(voiceFindings)
    .filter(({ text }) => !EXCEPTIONS.some(([exception]) => exception.test(text)))
    .map(({ file, line, rule }) => `${file}:${line}: ${rule}`);
  expect(findings).toEqual([]);
});
