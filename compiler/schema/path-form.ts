/** Pattern of a path, and its description. */
export const PATH_FORM = { pattern: "^/", form: 'a path that begins with "/"' } as const;
