/** Members of a callout's server that may be starved: by default a call may take two seconds. */
export const patient = { policies: { http: { requestTimeout: "60s" } } } as const;
