import { startupNeeds } from "../../4-emit/startup-needs.ts";
import type { Program } from "../../ir/program.ts";
import { changedFields, settingsKey } from "../../ir/settings-text.ts";
import type { TcpBindNode } from "../../ir/tcp.ts";
import { type Difference, plainDifference } from "./difference.ts";

/** Ports that pass connections on. */
export function tcpDifferences(
  before: readonly TcpBindNode[],
  after: readonly TcpBindNode[],
): readonly Difference[] {
  const ports = new Set([...before, ...after].map(({ port }) => port));
  return [...ports].flatMap((port): readonly Difference[] => {
    const [old, now] = [before, after].map((binds) => binds.find((each) => each.port === port));
    const subject = `port ${port} (connections)`;
    if (settingsKey(old) === settingsKey(now)) return [];
    const by = now && ({ side: "after", origin: now.origin, text: subject } as const);
    if (old === undefined)
      return [plainDifference("opens", subject, "nothing listened -> passes connections on", by)];
    if (now === undefined)
      return [plainDifference("closes", subject, "passes connections on -> nothing listens")];
    return changedFields(old, now).map((text) => plainDifference("changes", subject, text, by));
  });
}

/** Variables and files that have to be there when the gateway starts. */
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

/** What holds for the whole process: where it tells of itself, limits, logs and traces. */
export function processDifferences(before: Program, after: Program): readonly Difference[] {
  const whole = ({ name: _, inputs: __, binds: ___, tcp: ____, ...rest }: Program) => rest;
  return changedFields(whole(before), whole(after)).map((text) =>
    plainDifference("changes", "the gateway", text),
  );
}
