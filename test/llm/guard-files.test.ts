import { expect, it } from "vitest";
import { mapMembers } from "../../runtime/llm/chat/texts.ts";
import { GuardRun } from "../../runtime/llm/guards/guard-run.ts";
import { email } from "../../runtime/llm/guards/named-patterns.ts";
import { maskPatterns } from "../../runtime/llm/guards/pattern-guard.ts";
import { PatternTexts } from "../../runtime/llm/guards/pattern-texts.ts";

const text = "Grüße an ann@example.com";
const masked = "Grüße an <EMAIL_ADDRESS>";

/** Returns the parts of a message's content that a model receives. */
function guarded(content: object): unknown {
  const texts = new PatternTexts([maskPatterns([email()])], new GuardRun("request"));
  const { messages } = mapMembers({ messages: [{ role: "user", content }] }, ["messages"], texts);
  return messages;
}

function base64(of: string, encoding: BufferEncoding = "utf8"): string {
  return Buffer.from(of, encoding).toString("base64");
}

type Written = (text: string) => object;

const url = (prefix: string, encoding?: BufferEncoding) => (each: string) =>
  prefix + base64(each, encoding);

it.each<[string, Written]>([
  [
    "a document of the Messages API",
    (data) => ({ type: "document", source: { type: "text", media_type: "text/plain", data } }),
  ],
  [
    "one in base64",
    (each) => ({
      type: "document",
      source: { type: "base64", media_type: "text/markdown", data: base64(each) },
    }),
  ],
  [
    "a file of a chat",
    (each) => ({
      type: "file",
      file: { filename: "a.txt", file_data: url("data:text/plain;base64,")(each) },
    }),
  ],
  [
    "a file with a character set",
    (each) => ({ file: { file_data: url("data:text/csv;charset=utf-8;base64,")(each) } }),
  ],
  [
    "a file of Responses without a type",
    (each) => ({ type: "input_file", filename: "a.txt", file_data: base64(each) }),
  ],
  [
    "a file that says it is some bytes",
    (each) => ({ file_data: url("data:application/octet-stream;base64,")(each) }),
  ],
  [
    "a file in other letters",
    (each) => ({ file_data: url("data:text/plain;base64,", "latin1")(each) }),
  ],
  [
    "a file in letters of two bytes",
    (each) => ({ file_data: url("data:text/plain;base64,", "utf16le")(`\ufeff${each}`) }),
  ],
  [
    "a result of a tool",
    (each) => ({
      type: "tool_result",
      content: [
        {
          type: "document",
          source: { type: "base64", media_type: "application/json", data: base64(each) },
        },
      ],
    }),
  ],
  ["a file that is written as it is", (each) => ({ file_data: each })],
  [
    "an address that is the file",
    (each) => ({ type: "input_file", file_url: `data:text/plain,${encodeURIComponent(each)}` }),
  ],
  [
    "a text that says it is a PDF",
    (each) => ({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: base64(each) },
    }),
  ],
  [
    "JSON of a vendor's own",
    (each) => ({ file_data: url("data:application/vnd.orders+json;base64,")(each) }),
  ],
  [
    "an address that says it is a PDF and is a text",
    (each) => ({ file_url: `data:application/pdf,${encodeURIComponent(each)}` }),
  ],
])("%s is looked into", (_, written) => {
  expect(guarded([written(text)])).toEqual([{ role: "user", content: [written(masked)] }]);
});

it.each([
  ["an image", { type: "base64", media_type: "image/png", data: base64(text) }],
  ["a PDF", { type: "base64", media_type: "application/pdf", data: base64(`%PDF-1.7 ${text}`) }],
  [
    "a PDF as an address",
    { file_url: `data:application/pdf,%25PDF-1.7 ${encodeURIComponent(text)}` },
  ],
  [
    "a spreadsheet",
    {
      file_data: `data:application/vnd.ms-excel;base64,${base64(`PK\u0003\u0004${text}`, "latin1")}`,
    },
  ],
  ["bytes", { file_data: Buffer.from([0, 255, 1, 2]).toString("base64") }],
  ["sound", { input_audio: { data: base64(text), format: "wav" } }],
  ["a text without a match", { file_data: "data:text/plain;base64,SGVsbG8" }],
  ["an address", { image_url: { url: "https://ann@example.com/a.png" } }],
])("%s stays as it is written", (_, source) => {
  expect(guarded([{ source }])).toEqual([{ role: "user", content: [{ source }] }]);
});
