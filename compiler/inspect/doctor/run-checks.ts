import type { Finding } from "../../diagnostics/report/findings.ts";
import { locate, locationText } from "../../diagnostics/source.ts";
import type { Host } from "../../host.ts";
import type { CheckedInput } from "../check-input.ts";
import { checkCertificates } from "./certificate-checks.ts";
import { CHECK_GROUPS, type CheckedItem } from "./checked-item.ts";
import { checkEnvironment, type DoctorContext } from "./environment-checks.ts";
import { checkMachine } from "./machine-checks.ts";
import { checkPorts } from "./port-checks.ts";
import { type AskedServer, checkServers } from "./server-checks.ts";
import { usedServers } from "./used-servers.ts";

/** Seconds between clocks from which tokens and signatures are refused: the leeway of `jwtAuth` is one minute. */
const CLOCK_SECONDS = 30;

/** Subject of the checks. */
export interface CheckSubject {
  readonly host: Host;
  /** The checked configuration; `undefined` if there is none. */
  readonly input: CheckedInput | undefined;
  /** Whether nothing is sent to other servers. */
  readonly isOffline: boolean;
}

/** Checks a machine and a configuration on it, and returns the results by group. */
export async function runChecks({
  host,
  input,
  isOffline,
}: CheckSubject): Promise<readonly CheckedItem[]> {
  const items = [...checkMachine(host)];
  if (input === undefined) {
    const hint = "name a file: `gwc doctor FILE`";
    const detail = "there is no gateway.yaml in this folder";
    items.push({ group: "configuration", name: "files", status: "skipped", detail, hint });
    return items;
  }
  const context: DoctorContext = {
    host,
    placeOf: (origin) => locationText(locate(origin, input.files)),
  };
  for (const program of input.programs) {
    items.push(...checkEnvironment(program, context), ...checkCertificates(program, context));
    items.push(...(await checkPorts(program, context)));
    if (isOffline) continue;
    const asked = await checkServers(usedServers(program), context);
    items.push(...asked.map(({ item }) => item), clock(asked));
  }
  items.push(...configuration(input, items));
  const order = (item: CheckedItem) => CHECK_GROUPS.indexOf(item.group);
  return items.toSorted((a, b) => order(a) - order(b));
}

/** Findings of `gwc check`, without those about files that were checked anyway. */
function configuration(
  { findings, programs }: CheckedInput,
  others: readonly CheckedItem[],
): readonly CheckedItem[] {
  const files = others.map(({ name }) => name.replace(/^file /, ""));
  const isRepeated = ({ code, message }: Finding) =>
    OF_FILES.has(code) && files.some((file) => message.includes(file));
  const found = findings.filter((each) => !isRepeated(each)).map(ofFinding);
  if (programs.length === 0) return found;
  const routes = programs.flatMap(({ binds }) => binds.flatMap((bind) => bind.listeners)).length;
  const detail = `valid, ${routes} ${routes === 1 ? "listener" : "listeners"}`;
  return [{ group: "configuration", name: "gwc check", status: "ok", detail }, ...found];
}

/** Findings about files of this machine. */
const OF_FILES: ReadonlySet<string> = new Set([
  "file-not-here",
  "certificate-out-of-date",
  "certificate-expires",
]);

function ofFinding({ code, severity, message, hint, location }: Finding): CheckedItem {
  return {
    group: "configuration",
    name: code,
    status: severity === "error" ? "failed" : severity,
    detail: message,
    ...(hint !== undefined && { hint }),
    place: locationText(location),
  };
}

/** Compares the clock of this machine with those of servers, of which the middle one counts. */
function clock(asked: readonly AskedServer[]): CheckedItem {
  const clocks = asked.flatMap(({ clock: each }) => each ?? []).toSorted((a, b) => a - b);
  const middle = clocks[Math.floor(clocks.length / 2)];
  const item = { group: "clock", name: "clock" } as const;
  if (middle === undefined)
    return { ...item, status: "skipped", detail: "no server told the time" };
  const seconds = Math.round(Math.abs(middle) / 1000);
  if (seconds < CLOCK_SECONDS) {
    const count = clocks.length === 1 ? "a server" : `${clocks.length} servers`;
    return { ...item, status: "ok", detail: `agrees with ${count}` };
  }
  return {
    ...item,
    status: "failed",
    detail: `${spanText(seconds)} ${middle > 0 ? "behind" : "ahead of"} the servers`,
    hint: "synchronize it (`timedatectl set-ntp true`): tokens and signatures depend on it",
  };
}

/** Formats a time in a unit in which its number is short. */
function spanText(seconds: number): string {
  const hours = Math.round(seconds / 3600);
  if (hours < 2) return `${seconds} s`;
  return hours < 72 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}
