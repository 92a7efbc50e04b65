import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { skip } from "./skip.ts";
import { program } from "./tool.ts";

/** Programs from npm that tests talk to the gateway with, and their packages. */
const PACKAGES = {
  claude: "@anthropic-ai/claude-code@2.1.332",
  codex: "@openai/codex@0.171.0",
  gemini: "@google/gemini-cli@0.61.0",
  "mcp-server-basic-vanillajs": "@modelcontextprotocol/server-basic-vanillajs@2.0.3",
  "mcp-server-filesystem": "@modelcontextprotocol/server-filesystem@2026.8.31",
  "mcp-server-memory": "@modelcontextprotocol/server-memory@2026.8.31",
  "mcp-server-sequential-thinking": "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
  opencode: "opencode-ai@1.18.33",
} as const;

/** A program from npm. */
export type NpmProgram = keyof typeof PACKAGES;

/**
 * Returns the path of a program. The first test that needs it installs its package for all later runs. Skips the current
 * test if that fails.
 */
export async function npmProgram(name: NpmProgram): Promise<string> {
  const spec = PACKAGES[name];
  const folder = path.join(tmpdir(), "gwc-npm", spec.replaceAll("/", "+"));
  const file = path.join(folder, "node_modules/.bin", name);
  if (existsSync(file)) return file;
  mkdirSync(path.dirname(folder), { recursive: true });
  const made = mkdtempSync(`${folder}.`);
  const parameters = ["install", "--prefix", made, "--no-fund", "--no-audit", spec];
  try {
    await promisify(execFile)(program("npm"), parameters);
    // Another process may have been faster.
    if (!existsSync(folder)) renameSync(made, folder);
  } catch {
    skip(`npm cannot install ${spec}`);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return file;
}
