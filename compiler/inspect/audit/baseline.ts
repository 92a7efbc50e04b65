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
          reason: text("why it is acceptable"),
        },
        { required: ["code", "message", "reason"] },
      ),
    ),
  },
  { required: ["accepted"] },
);

/** Accepted findings, each with a reason. */
export type AuditBaseline = Infer<typeof schema>;

/** Parses a baseline; `undefined` if it is malformed. */
export function readBaseline(yaml: string): AuditBaseline | undefined {
  try {
    const value = parse(yaml);
    return compileSchema(schema, [value])(value) ? validated(schema, value) : undefined;
  } catch {
    return undefined;
  }
}

/** Splits off the findings that the baseline does not accept, and its entries that are no longer found. */
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

/** Renders a baseline that accepts all findings, with reasons to fill in. */
export function baselineText(findings: readonly Finding[], known: AuditBaseline): string {
  const accepted = findings.map(({ code, message }) => {
    const before = known.accepted.find((each) => each.code === code && each.message === message);
    return { code, message, reason: before?.reason ?? "not reviewed yet" };
  });
  return `# Accepted findings of \`gwc audit\`, with reasons.\n${stringify({ accepted })}`;
}
