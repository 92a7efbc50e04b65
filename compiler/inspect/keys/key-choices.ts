import type { KeyChoices } from "../../../runtime/store/key-registry.ts";
import type { CountedUnit, KeyLimit } from "../../../runtime/store/stored-key.ts";
import { parseDuration } from "../../schema/duration.ts";

/** A value that a command cannot use; the message is for the person who wrote it. */
export class ChoiceError extends Error {
  override readonly name = "ChoiceError";
}

/** Options about a key, as written: `--rate 100/minute`. */
export type ChoiceOptions = Readonly<Record<string, string>>;

/** Words for nothing, which remove what a key has. */
const NOTHING: ReadonlySet<string> = new Set(["none", "never"]);

/**
 * Reads what a person chooses about a key; members that no option mentions are absent. `before`: the limits of the key, of
 * which the options replace those of their unit. `now`: milliseconds since the epoch. Throws a ChoiceError.
 */
export function readChoices(
  options: ChoiceOptions,
  before: readonly KeyLimit[],
  now: number,
): Partial<KeyChoices> {
  const { metadata, models, expires } = options;
  const units = UNITS.filter(({ option }) => options[option] !== undefined);
  return {
    ...(metadata !== undefined && { metadata: readMetadata(metadata) }),
    ...(models !== undefined && {
      models: NOTHING.has(models) ? undefined : models.split(",").map((each) => each.trim()),
    }),
    ...(expires !== undefined && { expires: readExpiry(expires, now) }),
    ...(units.length > 0 && {
      limits: [
        ...before.filter(({ counts }) => !units.some((each) => each.counts === counts)),
        ...units.flatMap(({ option, counts }) => readLimits(options[option] ?? "", option, counts)),
      ],
    }),
  };
}

const UNITS: readonly { readonly option: string; readonly counts: CountedUnit }[] = [
  { option: "rate", counts: "requests" },
  { option: "tokens", counts: "tokens" },
  { option: "budget", counts: "cost" },
];

/** Reads `team=red,tier=gold`, or a JSON object. */
function readMetadata(text: string): KeyChoices["metadata"] {
  if (NOTHING.has(text)) return {};
  if (text.startsWith("{")) {
    try {
      return JSON.parse(text);
    } catch {
      throw new ChoiceError("--metadata begins like JSON but is not");
    }
  }
  const pairs = text.split(",").map((pair): readonly [string, string] => {
    const at = pair.indexOf("=");
    if (at < 1) throw new ChoiceError("--metadata needs NAME=VALUE,NAME=VALUE or a JSON object");
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
  const names = pairs.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ChoiceError(`--metadata has "${twice}" twice`);
  return Object.fromEntries(pairs);
}

/** Reads `100/minute,1000/day`. */
function readLimits(text: string, option: string, counts: CountedUnit): readonly KeyLimit[] {
  if (NOTHING.has(text)) return [];
  return text.split(",").map((each): KeyLimit => {
    const [, amount, word] = /^\s*(\d+(?:\.\d+)?)\s*\/\s*(\w+)\s*$/.exec(each) ?? [];
    const period = PERIODS.find((known) => known === word);
    if (amount === undefined || period === undefined)
      throw new ChoiceError(
        `--${option} needs AMOUNT/PERIOD, such as 100/minute; periods: ${PERIODS.join(", ")}`,
      );
    return { counts, amount: Number(amount), period };
  });
}

const PERIODS = ["second", "minute", "hour", "day", "month"] as const;

/** Reads a duration from now (`90d`, `12h`), a date (`2027-01-31`) or a time (RFC 3339), or `never`. */
function readExpiry(text: string, now: number): number | undefined {
  if (NOTHING.has(text)) return undefined;
  const span = readSpan(text);
  if (span !== undefined) return now + span;
  const time = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new ChoiceError(
    "--expires needs a duration such as 90d, a date such as 2027-01-31, or never",
  );
}

const DAY = 86_400_000;

/** Reads a duration with days, which configurations do not have: `90d`, `24h`. `undefined` if it is not a duration. */
export function readSpan(text: string): number | undefined {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  return days === undefined ? parseDuration(text) : Number(days) * DAY;
}
