declare module "unix-crypt-td-js" {
  /** Returns the crypt(3) hash (DES) of a password; the salt is the first two characters of a hash. */
  const unixCrypt: (password: string, salt: string) => string;
  export = unixCrypt;
}
