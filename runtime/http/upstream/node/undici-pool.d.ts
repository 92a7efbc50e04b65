declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";

  /** The pool without the rest of undici, which is larger than all that a gateway needs of it. */
  export = Pool;
}
