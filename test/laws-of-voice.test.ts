import { expect, it } from "vitest";
import { voicedFiles, voiceFindings } from "./voice/voice.ts";

/** Folders that are not rewritten yet. */
const PENDING = /^(?:compiler|runtime|templates|test|examples|\.github\/reference)\//;

it("text is plain technical English: `node test/voice/report.ts FOLDER` lists what is not", () => {
  const findings = voicedFiles()
    .filter((file) => !PENDING.test(file))
    .flatMap(voiceFindings)
    .map(({ file, line, rule }) => `${file}:${line}: ${rule}`);
  expect(findings).toEqual([]);
});
