import { parse, stringify } from "yaml";
import type { Finding } from "../../diagnostics/report/findings.ts";
import { type Infer, list, object, text, validated } from "../../schema/schema.ts";
import { compileSchema } from "../../schema/schema-compiler.ts";

const schema = object(
  {
    accepted: list(
      object(
        {
          code: text("the finding's code"),
          message: text("its message"),
          reason: text("why it is as it should be"),
        },
        { required: ["code", "message", "reason"] },
      ),
    ),
  },
  { required: ["accepted"] },
);

/** Findings that somebody looked at and accepted, each with the reason. */
export type AuditBaseline = Infer<typeof schema>;

/** Reads a baseline; undefined: the text is none. */
export function readBaseline(yaml: string): AuditBaseline | undefined {
  try {
    const value = parse(yaml);
    return compileSchema(schema, [value])(value) ? validated(schema, value) : undefined;
  } catch {
    return undefined;
  }
}

/** The findings that no baseline accepts, and what it accepts that is not found any more. */
export function unaccepted(
  findings: readonly Finding[],
  { accepted }: AuditBaseline,
): { readonly open: readonly Finding[]; readonly gone: AuditBaseline["accepted"] } {
  const isSame = (finding: Finding, each: AuditBaseline["accepted"][number]): boolean =>
    finding.code === each.code && finding.message === each.message;
  return {
    open: findings.filter((finding) => !accepted.some((each) => isSame(finding, each))),
    gone: accepted.filter((each) => !findings.some((finding) => isSame(finding, each))),
  };
}

/** A baseline that accepts all of some findings, for somebody to write the reasons. */
export function baselineText(findings: readonly Finding[], known: AuditBaseline): string {
  const accepted = findings.map(({ code, message }) => {
    const before = known.accepted.find((each) => each.code === code && each.message === message);
    return { code, message, reason: before?.reason ?? "not looked at yet" };
  });
  return `# Findings of \`gwc audit\` that are as they should be, and why.\n${stringify({ accepted })}`;
}
