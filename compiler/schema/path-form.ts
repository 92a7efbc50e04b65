/** What a path looks like. */
export const PATH_FORM = { pattern: "^/", form: 'a path that begins with "/"' } as const;
