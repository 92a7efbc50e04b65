import { expect, it } from "vitest";
import { PoolShare, SharedPools } from "../../runtime/http/upstream/node/server-upstream.ts";

class Pool {
  isClosed = false;
  close(): void {
    this.isClosed = true;
  }
}

it("a shared pool is closed by its last user, however often each closes it", () => {
  const pools = new SharedPools<Pool>();
  const share = (key: string | undefined): PoolShare<Pool> =>
    new PoolShare(
      key,
      () => new Pool(),
      () => pools,
    );
  const [first, second, unused, other] = [share("a"), share("a"), share("a"), share("b")];
  const { pool } = first;
  expect(second.pool).toBe(pool);
  expect(other.pool).not.toBe(pool);
  unused.close();
  expect(first.close()).toBe(false);
  expect(first.close()).toBe(false);
  expect(pool.isClosed).toBe(false);
  expect(second.close()).toBe(true);
  expect(pool.isClosed).toBe(true);
  // A later user opens a new pool, and earlier ones leave nothing open.
  const later = share("a");
  expect(later.pool.isClosed).toBe(false);
  expect(unused.pool.isClosed).toBe(true);
  expect(other.pool.isClosed).toBe(false);
});
