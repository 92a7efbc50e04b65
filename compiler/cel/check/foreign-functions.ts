/** Functions of other languages by their name, and what CEL has for them. */
export const FOREIGN_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  [
    "includes",
    'an item of a list is found by `"x" in list`, a part of a text by `text.contains("x")`',
  ],
  ["has_key", 'a key is found by `"x" in map`'],
  ["hasOwnProperty", 'a key is found by `"x" in map`'],
  ["get", 'a value is read by `map["x"]`'],
  ["length", "a length is `value.size()`"],
  ["len", "a length is `size(value)`"],
  ["count", "a length is `size(value)`"],
  ["toLowerCase", "small letters are made by `text.lowerAscii()`"],
  ["lower", "small letters are made by `text.lowerAscii()`"],
  ["toUpperCase", "capital letters are made by `text.upperAscii()`"],
  ["upper", "capital letters are made by `text.upperAscii()`"],
  ["equals", "equality is written `==`"],
  ["test", 'a pattern is tested by `text.matches("pattern")`'],
  ["match", 'a pattern is tested by `text.matches("pattern")`'],
  ["regex", 'a pattern is tested by `text.matches("pattern")`'],
  ["some", "some item of a list is found by `list.exists(x, x > 1)`"],
  ["any", "some item of a list is found by `list.exists(x, x > 1)`"],
  ["every", "all items of a list are asked by `list.all(x, x > 1)`"],
]);
