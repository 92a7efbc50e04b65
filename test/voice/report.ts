import { voicedFiles, voiceFindings } from "./voice.ts";

/** Prints what the rules for text find below a folder: `node test/voice/report.ts compiler/cel`. */
const under = process.argv[2] ?? "";
const findings = voicedFiles(under).flatMap(voiceFindings);
for (const { file, line, rule, text } of findings) {
  console.log(`${file}:${line}: ${rule}\n    ${text.trim().slice(0, 160)}`);
}
console.log(`${findings.length} findings`);
