import { keySetOf, publicKeyOf } from "../../runtime/contents/public-key-set.ts";
import type { KeyRegistry } from "../../runtime/store/key-registry.ts";
import { textReport } from "../diagnostics/report/text.ts";
import { checkInput } from "../inspect/check-input.ts";
import { ChoiceError, readChoices, readSpan } from "../inspect/keys/key-choices.ts";
import { keyFindings, keyJson, keyTable } from "../inspect/keys/key-table.ts";
import { readLitellmKeys } from "../inspect/keys/litellm-keys.ts";
import { NoStoreError, openKeys } from "../inspect/keys/open-keys.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import { commandInput } from "./default-input.ts";
import { gateway } from "./shared-options.ts";

/** `gwc keys`: makes, lists, changes and revokes the API keys of a running gateway. */
export const keys: Command = {
  minPositionals: 0,
  maxPositionals: 2,
  details:
    "Manages API keys that a gateway with `apiKey: { store: true }` accepts, without a new deployment. They are in its store: " +
    "Redis or Valkey (`config.store`), or a file in GWC_STATE_DIR. The store has a hash of each key, never the key.\n" +
    "create NAME  makes a key and prints it, once\n" +
    "list, show NAME  print what keys may do\n" +
    "update NAME  changes what the options name; `none` removes a part\n" +
    "rotate NAME  makes a new key; the old one stays valid for --overlap (24h)\n" +
    "revoke NAME  ends a key, everywhere within a second\n" +
    "import FILE  adopts keys of LiteLLM (GET /key/list?return_full_object=true), whose holders keep them\n" +
    "public FILE  prints the key set of a private key (PEM), for servers that verify tokens of `jwtSign`; needs no store\n" +
    "Exit code: 0 done, 1 not possible, 2 usage error.",
  options: [
    { name: "name", value: "NAME", summary: "name of the key, if not given after the action" },
    {
      name: "metadata",
      value: "NAME=VALUE,..",
      summary: "attributes of the holder, which rules read as `apiKey`; or a JSON object",
    },
    { name: "models", value: "MODEL,..", summary: "models that it may use: fast,gpt-*" },
    { name: "rate", value: "AMOUNT/PERIOD,..", summary: "limit of requests: 100/minute" },
    { name: "tokens", value: "AMOUNT/PERIOD,..", summary: "limit of model tokens: 1000000/day" },
    { name: "budget", value: "AMOUNT/PERIOD,..", summary: "cost in US dollars: 50/month" },
    { name: "expires", value: "WHEN", summary: "when it expires: 90d, 2027-01-31, never" },
    { name: "kid", value: "ID", summary: "`kid` of the key that `public` prints" },
    { name: "overlap", value: "TIME", summary: "validity of the old key after rotate: 24h, 0" },
    {
      name: "format",
      value: "FORMAT",
      choices: ["table", "json"],
      summary: "output of list and show (default: table)",
    },
    { name: "file", short: "f", value: "FILE", summary: "configuration (default: gateway.yaml)" },
    gateway,
  ],
  examples: [
    "gwc keys create ci --metadata team=red --models 'fast,gpt-*'",
    "gwc keys update ci --budget 50/month --expires 90d",
    "gwc keys rotate ci --overlap 1h",
    "gwc keys revoke ci",
    "gwc keys public signing-key.pem --kid 2026",
  ],
  work: manageKeys,
};

/** Arguments of an action. */
interface ActionContext {
  readonly keys: KeyRegistry;
  /** Name of the key, or the file to import. */
  readonly subject: string;
  readonly options: Arguments["options"];
  readonly context: CommandContext;
}

type Action = (action: ActionContext) => Promise<CommandResult>;

const ACTIONS: Readonly<Record<string, Action>> = {
  create,
  list,
  show,
  update,
  rotate,
  revoke,
  import: importKeys,
};

/** Actions without a name. */
const ON_ALL: ReadonlySet<string> = new Set(["list"]);

async function manageKeys(
  { positionals: [word = "", given], options }: Arguments,
  context: CommandContext,
): Promise<CommandResult> {
  if (word === "public") return printPublic(given, options, context);
  const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
  if (action === undefined)
    return usage(`unknown action "${word}"`, `one of: ${Object.keys(ACTIONS).join(", ")}, public`);
  const subject = given ?? options.name;
  if (ON_ALL.has(word) && subject !== undefined) return usage(`\`gwc keys ${word}\` takes no name`);
  if (!ON_ALL.has(word) && subject === undefined)
    return usage(`\`gwc keys ${word}\` needs a ${word === "import" ? "file" : "name"}`);
  const { host, isColored } = context;
  const files = options.file === undefined ? [] : [options.file];
  const input = commandInput(files, host, "gwc keys list --file FILE");
  if (input.kind === "none") return input.result;
  const { program, literals, findings } = checkInput(input.files, host, false, options.gateway);
  if (program === undefined) return { exitCode: 1, stderr: textReport(findings, isColored.stderr) };
  try {
    const opened = await openKeys(program, literals, host);
    try {
      return await action({ keys: opened.keys, subject: subject ?? "", options, context });
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof ChoiceError) return usage(error.message);
    if (error instanceof NoStoreError || isExpected(error)) return problem(error.message);
    throw error;
  }
}

function printPublic(
  file: string | undefined,
  { kid }: Arguments["options"],
  { host }: CommandContext,
): CommandResult {
  if (file === undefined) return usage("`gwc keys public` needs a file");
  const read = host.readText(file);
  if (read.kind === "problem") return problem(`"${file}" can't be read: ${read.problem}`);
  try {
    return { exitCode: 0, stdout: `${keySetOf([publicKeyOf(read.text, { keyId: kid })])}\n` };
  } catch (error) {
    return problem(`"${file}" ${error instanceof Error ? error.message : error}`);
  }
}

async function create({ keys: registry, subject, options }: ActionContext): Promise<CommandResult> {
  const choices = readChoices(options, [], Date.now());
  const { metadata = {}, models, limits = [], expires } = choices;
  const { key } = await registry.create(subject, { metadata, models, limits, expires });
  return newKey(key, `made the key "${subject}"`);
}

async function list({ keys: registry, options }: ActionContext): Promise<CommandResult> {
  const { keys: all, unreadable } = await registry.list();
  const notes = [
    ...keyFindings(all),
    ...(unreadable === 0
      ? []
      : [`${unreadable} records of the store are no keys, and admit nobody`]),
  ];
  return {
    exitCode: 0,
    stdout: options.format === "json" ? keyJson(all) : keyTable(all),
    stderr: notes.map((note) => `note: ${note}\n`).join(""),
  };
}

async function show({ keys: registry, subject, options }: ActionContext): Promise<CommandResult> {
  const found = [await registry.show(subject)];
  return { exitCode: 0, stdout: options.format === "json" ? keyJson(found) : keyTable(found) };
}

async function update({ keys: registry, subject, options }: ActionContext): Promise<CommandResult> {
  const { limits } = await registry.show(subject);
  const change = readChoices(options, limits, Date.now());
  if (Object.keys(change).length === 0)
    return usage("`gwc keys update` needs an option that says what to change");
  return { exitCode: 0, stdout: keyTable([await registry.update(subject, change)]) };
}

async function rotate({ keys: registry, subject, options }: ActionContext): Promise<CommandResult> {
  const overlap = readSpan(options.overlap ?? "24h");
  if (overlap === undefined) return usage("--overlap needs a duration such as 24h, or 0");
  const { key } = await registry.rotate(subject, overlap);
  const old =
    overlap === 0 ? "ended the old one" : `the old one ends in ${options.overlap ?? "24h"}`;
  return newKey(key, `made a new key "${subject}"; ${old}`);
}

async function revoke({ keys: registry, subject }: ActionContext): Promise<CommandResult> {
  const count = await registry.revoke(subject);
  return {
    exitCode: 0,
    stderr: `revoked ${count === 1 ? "the key" : `${count} keys`} "${subject}"\n`,
  };
}

async function importKeys({
  keys: registry,
  subject,
  context,
}: ActionContext): Promise<CommandResult> {
  const read = context.host.readText(subject);
  if (read.kind === "problem") return problem(`"${subject}" can't be read: ${read.problem}`);
  const found = readLitellmKeys(read.text);
  if (typeof found === "string") return problem(`"${subject}" can't be imported: ${found}`);
  const problems = [...found.problems];
  const adopted: string[] = [];
  for (const { name, digest, shown, choices } of found.keys) {
    try {
      await registry.adopt(name, digest, shown, choices);
      adopted.push(name);
    } catch (error) {
      if (!isNamed(error, "KeyError")) throw error;
      problems.push(`"${name}": ${error.message}`);
    }
  }
  const lines = [
    `imported ${adopted.length} of ${adopted.length + problems.length} keys; what they have used so far begins at 0`,
    ...problems.map((each) => `not imported: ${each}`),
  ];
  return {
    exitCode: problems.length === 0 ? 0 : 1,
    stderr: lines.map((each) => `${each}\n`).join(""),
  };
}

/** The key alone is on stdout, for scripts. */
function newKey(key: string, what: string): CommandResult {
  return { exitCode: 0, stdout: `${key}\n`, stderr: `${what}; it is shown only now\n` };
}

function isExpected(error: unknown): error is Error {
  return isNamed(error, "KeyError") || isNamed(error, "StoreError");
}

/** Errors of modules that are loaded on demand are known by their names. */
function isNamed(error: unknown, name: string): error is Error {
  return error instanceof Error && error.name === name;
}

function problem(text: string): CommandResult {
  return { exitCode: 1, stderr: `error: ${text}\n` };
}

function usage(text: string, hint = "see `gwc keys --help`"): CommandResult {
  return { exitCode: 2, stderr: `error: ${text}\nhint: ${hint}\n` };
}
