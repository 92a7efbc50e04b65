import manifest from "../package.json" with { type: "json" };

/** The version of gwc, as its package says. */
export const version: string = manifest.version;
