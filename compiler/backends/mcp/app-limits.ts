import { choice, type Infer, list, object, shortText } from "../../schema/schema.ts";

/** Maximum of what apps may declare, by the member of the declaration; others are not limited. */
export type AppLimitsConfig = Readonly<Partial<Record<string, AppLimit>>>;

/** Maximum of one member. */
interface AppLimit {
  /** Makes an empty list another setting than an absent one, wherever settings are compared. */
  readonly isLimited: true;
  readonly allowed: readonly string[];
}

/** Members of declarations that can be limited. */
const MEMBERS = [
  ...(["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"] as const),
  "permissions",
] as const;

/** Schema of `apps`, which is the same in both forms. */
export const appLimitsSchema = object(
  {
    connectDomains: origins("to which apps may send requests"),
    resourceDomains: origins("from which apps may load scripts, styles, images, fonts and media"),
    frameDomains: origins("of frames in apps"),
    baseUriDomains: origins("that apps may use as the base of their URLs"),
    permissions: list(
      choice("Permission that an app may ask its host for.", [
        "camera",
        "microphone",
        "geolocation",
        "clipboardWrite",
      ]),
      {
        maxItems: 4,
        description: "Permissions that apps may ask for; an empty list allows none.",
      },
    ),
  },
  {
    atLeastOneOf: MEMBERS,
    examples: [{ connectDomains: ["https://api.example.com"], frameDomains: [], permissions: [] }],
    description:
      "Maximum of what apps of the servers (MCP Apps) may declare. Everything beyond it is removed from their declarations, by which hosts restrict their pages.",
  },
);

/** Converts a validated `apps` to canonical form. */
export function lowerAppLimits(
  value: Infer<typeof appLimitsSchema> | undefined,
): AppLimitsConfig | undefined {
  if (value === undefined) return undefined;
  const limits = MEMBERS.flatMap((member) => {
    const allowed = value[member];
    return allowed === undefined ? [] : [[member, { isLimited: true, allowed }] as const];
  });
  return Object.fromEntries(limits);
}

function origins(which: string) {
  const origin = shortText("An origin.", {
    maxLength: 253,
    pattern: "^[a-z]+://([*][.])?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?$",
    form: 'an origin such as "https://api.example.com" or "https://*.example.com"',
  });
  return list(origin, {
    maxItems: 64,
    examples: [["https://api.example.com", "https://*.example.com"]],
    description: `Origins ${which}; an empty list allows none.`,
  });
}
