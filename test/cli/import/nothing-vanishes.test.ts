import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { memoryHost } from "../../../compiler/host.ts";
import { formatOf, importers } from "../../../compiler/import/formats.ts";
import { importedText } from "../../../compiler/import/imported-text.ts";

const sources = [
  ...["nginx.conf", "Caddyfile", "traefik.yaml", "kong.yaml", "litellm.yaml"],
  "envoy-ai-gateway.yaml",
];

/** Returns the imported file; the reason if that is impossible. */
function converted(file: string, text: string): string {
  const files = [{ file, text }];
  const format = formatOf(files);
  if (format === "agentgateway") return "unknown format";
  const read = importers[format](files, memoryHost({ [file]: text }));
  return typeof read === "string" ? read : importedText(file, read);
}

/** Fields that identify a document, or what it refers to, without being a setting. */
const NAMING = /^\s*(?:- )?(?:apiVersion|kind|group|name|namespace|_format_version|_transform):/;

/** Whether a line is a directive or a field with a value, that can be left out alone. */
function isSetting(line: string): boolean {
  const isBlock = /[{]\s*$/.test(line) || /^\s*\}?\s*$|^---|:\s*$/.test(line);
  return !isBlock && !NAMING.test(line);
}

/** Leaves out a line; the other lines keep their numbers, and lists of YAML their items. */
function without(lines: readonly string[], index: number): string {
  const line = lines[index] ?? "";
  const isItem = /^\s*- /.test(line);
  const instead = isItem ? line.replace(/- .*/, /- \w+: /.test(line) ? "- zzz: 1" : "- zzz") : "";
  return lines.with(index, instead).join("\n");
}

/** The settings without which the imported file is the same. */
function vanished(file: string, text: string): readonly string[] {
  const whole = converted(file, text);
  // Without what the file needs, it is refused.
  if (!whole.startsWith("# Imported")) return [];
  const lines = text.split("\n");
  return lines.flatMap((line, index) =>
    isSetting(line) && converted(file, without(lines, index)) === whole
      ? [`${index + 1}: ${line.trim()}`]
      : [],
  );
}

/** A file with only some of its settings, chosen by a seed. */
function someOf(text: string, seed: number): string {
  let state = seed;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  // A snippet that no site imports is not part of the configuration.
  const isLeftOut = (line: string) =>
    isSetting(line) && !/^\s*- |snip/i.test(line) && random() < 0.3;
  return text
    .split("\n")
    .map((line) => (isLeftOut(line) ? "" : line))
    .join("\n");
}

describe.each(sources)("%s", (name) => {
  const text = readFileSync(new URL(`sources/${name}`, import.meta.url), "utf8");

  it("has every setting in the imported file, in a comment or in a DECIDE line", () => {
    expect(converted(name, text)).toContain("# Imported from");
    expect(vanished(name, text)).toEqual([]);
  });

  it("loses none if some settings are left out", { timeout: 240_000 }, () => {
    const seeds = [1, 2, 3];
    expect(seeds.flatMap((seed) => vanished(name, someOf(text, seed)))).toEqual([]);
  });
});

it("names and durations of nginx that gwc reads differently", () => {
  const text = (directives: string) =>
    `upstream my_app { server 10.0.0.1:80; }\nserver { listen 8080; location / { proxy_pass http://my_app; ${directives} } }\n`;
  expect(converted("a.conf", text("proxy_read_timeout 5d;"))).toContain("requestTimeout: 120h");
  expect(converted("a.conf", text('proxy_read_timeout "1h 30m";'))).toContain(
    "requestTimeout: 1h30m",
  );
  for (const value of ["$t", "${T}", "soon"])
    expect(converted("a.conf", text(`proxy_connect_timeout ${value};`))).toContain(
      `#   line 2: proxy_connect_timeout ${value}\n`,
    );
  expect(converted("a.conf", text(""))).not.toContain("full: my_app");
});

it("addresses of Caddy sites that come from variables", () => {
  const site = (address: string) => converted("Caddyfile", `${address} {\n\trespond "ok"\n}\n`);
  expect(site("{$DOMAIN:a.test}")).toContain("${DOMAIN:-a.test}");
  expect(site("{$D}:8080")).toMatch(/DECIDE: line 1: the host name is that of the variable D/);
  expect(site("{$D}:8080")).toContain("${D:-localhost}");
});

it("every model of Envoy AI Gateway, and settings with key in their names", () => {
  const read = (name: string) =>
    converted(name, readFileSync(new URL(`sources/${name}`, import.meta.url), "utf8"));
  expect(read("envoy-ai-gateway.yaml")).toContain('name: "*"');
  expect(read("litellm.yaml")).toContain("default_key_generate_params.max_budget: 10");
});
