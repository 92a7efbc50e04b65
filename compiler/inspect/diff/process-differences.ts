import { startupNeeds } from "../../4-emit/startup-needs.ts";
import type { AcmeNode } from "../../ir/acme.ts";
import type { Program } from "../../ir/program.ts";
import type { LiteralSecret } from "../../model/literal-secrets.ts";
import { shownText } from "../../model/texts.ts";
import { changedSettings } from "./changed-settings.ts";
import { type Difference, plainDifference } from "./difference.ts";

/** Compares the variables and files that the gateway needs to start. */
export function needDifferences(before: Program, after: Program): readonly Difference[] {
  const names = (program: Program) =>
    new Map(
      startupNeeds(program).map((need) => [
        need.kind === "variable" ? `variable ${need.name}` : `file ${need.file.file}`,
        need.origin,
      ]),
    );
  const [old, now] = [names(before), names(after)];
  const gained = [...now].filter(([name]) => !old.has(name));
  const lost = [...old].filter(([name]) => !now.has(name));
  return [
    ...gained.map(([name, origin]) =>
      plainDifference("changes", "to start", `needs the ${name}`, {
        side: "after",
        origin,
        text: name,
      }),
    ),
    ...lost.map(([name, origin]) =>
      plainDifference("changes", "to start", `no longer needs the ${name}`, {
        side: "before",
        origin,
        text: name,
      }),
    ),
  ];
}

/** Reports changed literal credentials, without showing them; programs do not contain them. */
export function credentialDifferences(
  before: readonly LiteralSecret[],
  after: readonly LiteralSecret[],
): readonly Difference[] {
  const old = new Map(before.map(({ variable, value }) => [variable, value]));
  return after.flatMap(({ variable, value, at }) => {
    if ((old.get(variable) ?? value) === value) return [];
    const by = { side: "after", origin: at, text: "a credential" } as const;
    return plainDifference("changes", "to start", `${variable} has another value`, by);
  });
}

/** Reports that the API keys made at run time are those of another store. */
export function storeDifferences(before: Program, after: Program): readonly Difference[] {
  const [was, is] = [storeText(before), storeText(after)];
  if (was === is || before.store === undefined || after.store === undefined) return [];
  const text = `stored keys are those of ${is} instead of ${was}`;
  return [plainDifference("changes", "the gateway", text)];
}

function storeText({ store }: Program): string {
  if (store?.kind !== "redis") return "the state directory";
  const { url, prefix, isCluster, sentinelName } = store;
  const place = typeof url === "string" || url.kind === "env" ? shownText(url) : url.file;
  const kind = isCluster ? ", a cluster" : "";
  const primary = sentinelName === undefined ? "" : `, primary ${sentinelName}`;
  return `${place} (prefix ${prefix}${kind}${primary})`;
}

/** Returns an account with its challenges. The names of certificates are compared for each listener. */
function withoutNames({ certificates, ...account }: AcmeNode): object {
  return { ...account, challenges: certificates.map(({ challenge }) => challenge).join(", ") };
}

/** Compares the settings of the process: admin addresses, limits, logs and traces. */
export function processDifferences(before: Program, after: Program): readonly Difference[] {
  const whole = ({
    name: _,
    inputs: __,
    binds: ___,
    tcp: ____,
    store: _____,
    acme,
    ...rest
  }: Program) => ({ ...rest, ...(acme && { acme: withoutNames(acme) }) });
  return changedSettings(whole(before), whole(after)).map(({ direction, text }) =>
    plainDifference(direction, "the gateway", text),
  );
}
