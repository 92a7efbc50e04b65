import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { PATH_FORM } from "../../schema/path-form.ts";
import { type ObjectValue, shortText, text, type ValueCheck } from "../../schema/schema.ts";
import type { ProviderConfig } from "./ai-config.ts";
import { PREFIX } from "./provider-fields.ts";

/** Returns the schemas of the fields that say where a provider is called. */
export function providerServerFields() {
  return {
    baseUrl: text(
      "Base URL of the API on another server, as SDKs take it: `http://localhost:11434/v1`. Its path replaces the provider's own base path, which is also the default.",
      { maxLength: 1024, readAtStart: true },
    ),
    hostOverride: text(
      "Another server with the provider's API: `host:port` or a URL; plain HTTP unless the URL or a policy sets TLS.",
      { maxLength: 1024, readAtStart: true },
    ),
    pathPrefix: shortText(PREFIX, { maxLength: 1024, ...PATH_FORM }),
    pathOverride: shortText("Path of every request; the provider's own paths by default.", {
      maxLength: 1024,
      ...PATH_FORM,
    }),
  };
}

/** Rule that a provider has one address. */
export const oneServer: ValueCheck = {
  message: '"baseUrl" and "hostOverride" exclude each other',
  field: "hostOverride",
  holds: ({ baseUrl, hostOverride }) => baseUrl === undefined || hostOverride === undefined,
  cel: "!has(self.baseUrl) || !has(self.hostOverride)",
};

/** Fields that say where a provider is called, as validated. */
export type ServerValue = ObjectValue<ReturnType<typeof providerServerFields>, never>;

/** Reads where a provider is called. */
export function readServer(
  { baseUrl, hostOverride, pathPrefix, pathOverride }: ServerValue,
  origin: Origin,
): Pick<ProviderConfig, "server" | "prefix" | "path"> {
  const isBaseUrl = baseUrl !== undefined;
  const address = baseUrl ?? hostOverride;
  return {
    server:
      address === undefined
        ? undefined
        : {
            address,
            isBaseUrl,
            origin: childOf(origin, isBaseUrl ? "baseUrl" : "hostOverride"),
          },
    prefix: pathPrefix?.replace(/\/+$/, ""),
    path: pathOverride,
  };
}
