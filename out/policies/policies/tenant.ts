import { definePolicy } from "gwc/policy";

/** Rejects requests without a tenant and names the tenant to the backend. */
export default definePolicy({
  options: { header: { type: "string", default: "x-tenant" } },
  provides: { tenant: "string" },
  request(request, { header }) {
    const tenant = request.headers.get(header)?.toLowerCase();
    if (tenant === undefined) return request.refuse(403, "no tenant");
    request.headers.set("x-tenant-id", tenant);
    return { tenant };
  },
});
