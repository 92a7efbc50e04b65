/** Policies of a server that policies ask, which may be starved: by default a call may take two seconds. */
export const patient = { http: { requestTimeout: "60s" } } as const;
