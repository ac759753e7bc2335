/** A text that claims to be JSON. */
export interface JsonText {
  kind: string;
  name: string;
  bytes: Buffer;
  /** What RFC 8259 says of it: it must be read, must not be, or is left to the reader. */
  says: 'json' | 'no json' | 'either';
}

const DEEP = 100_000;

const all = (kind: string, says: JsonText['says'], texts: readonly (string | Buffer)[]): JsonText[] =>
  texts.map((text) => ({
    kind,
    says,
    name: (typeof text === 'string' ? text : text.toString('latin1')).slice(0, 40),
    bytes: Buffer.from(text),
  }));

const hex = (bytes: string): Buffer => Buffer.from(bytes.replaceAll(' ', ''), 'hex');
/** Bytes inside a JSON string. */
const quoted = (bytes: string): Buffer => Buffer.concat([Buffer.from('"'), hex(bytes), Buffer.from('"')]);

/**
 * What must be read. What went wrong elsewhere: a parser of one's own that knows fewer escapes, numbers or white space
 * than the standard; one that takes `__proto__` for the prototype; recursion that ends the process.
 */
// prettier-ignore
const READ: JsonText[] = [
  ...all('literal', 'json', ['null', 'true', 'false', '""', '0', '[]', '{}', ' [] ', '\n\t\r {}\n', '[null]', '{"":0}']),
  ...all('number', 'json', [
    '-0', '-1', '1', '10', '123', '-123', '0.5', '-0.5', '1.0', '0.0', '-0.0', '1e1', '1E1', '1e+1', '1e-1', '1E+10',
    '0e0', '0e+1', '0E-1', '1.5e10', '123.456e78', '-0e-0', '9007199254740991', '9007199254740993', '-9007199254740993',
    '18446744073709551616', '123456789012345678901234567890', '0.1000000000000000000000000001', '1e308', '5e-324',
    `0.${'0'.repeat(500)}1`, '20e1', '0.4e00669999',
  ]),
  ...all('string', 'json', [
    '"a"', '"\\""', '"\\\\"', '"\\/"', '"/"', '"\\b\\f\\n\\r\\t"', '"\\u0061"', '"\\u0000"', '"\\u001f"', '"\\u007F"',
    '"\\u00e9"', '"\\uD834\\uDD1E"', '"\\ud834\\udd1e"', '"\\uDBFF\\uDFFF"', '"\\uFFFE"', '"\\uFFFF"', '"\\uFEFF"',
    '"\\u2028\\u2029"', '"\u2028\u2029"', '"\u007F"', '"\u0080"', '"\u00E9"', '"\u20AC"', '"\u{1D11E}"', '"\u{10FFFF}"',
    '"\uFFFE"', '"\uFFFF"', '"\uFEFFx"', '"\u200B\u202E"', '"\\u005C"', '"\\u0022"', '"\\\\u0000"', '"a/*b*/c//d"', '"\'"',
    '"<script>"', '"${x}"', '"%00%0a"', '" "', '"\u00A0"', `"${'a'.repeat(100_000)}"`, `"${'\\u0041'.repeat(20_000)}"`,
  ]),
  ...all('array', 'json', ['[1]', '[ 1 , 2 ]', '[[]]', '[[],[]]', '[1,\n2]', '[null,1,"1",{}]', `[${'0,'.repeat(20_000)}0]`, '["",[]]']),
  ...all('object', 'json', [
    '{"a":1}', '{"a":{}}', '{ "a" : [ ] }', '{"a":1,"b":2}', '{"a":1,"a":2}', '{"a":1,"a":1}', '{"\\u0061":1,"a":2}',
    '{"__proto__":{"polluted":true}}', '{"__proto__":null}', '{"constructor":{"prototype":{"polluted":true}}}',
    '{"\\u005f_proto__":{"polluted":true}}', '{"prototype":1,"toString":1,"valueOf":1,"hasOwnProperty":1}',
    '{"then":1}', '{"toJSON":1}', '{"length":-1}', '{"0":1,"1":2}', '{"\\u0000":1}', '{"\uD800\\uDC00":1}', '{"a b":1}',
    '{"__defineGetter__":1,"__lookupSetter__":1}', `{${Array.from({ length: 5_000 }, (_, at) => `"k${at}":${at}`).join()}}`,
    `{"${'k'.repeat(50_000)}":1}`,
  ]),
  ...all('depth', 'json', [
    `${'['.repeat(100)}${']'.repeat(100)}`,
    `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
    `${'['.repeat(DEEP)}${']'.repeat(DEEP)}`,
    `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
    `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`,
    `${'[{"a":'.repeat(20_000)}1${'}]'.repeat(20_000)}`,
    `${'{"__proto__":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  ]),
];

/** What must be refused. What went wrong elsewhere: a lenient reader lets pass what a strict one before it refused. */
// prettier-ignore
const REFUSED: JsonText[] = [
  ...all('empty', 'no json', ['', ' ', '\n', '\t\r\n', '\0']),
  ...all('literal', 'no json', [
    'nul', 'nulll', 'Null', 'NULL', 'tru', 'truth', 'True', 'TRUE', 'fals', 'False', 'undefined', 'None', 'nil', 'yes',
    'a', 'abc', '\u00E9', '\\u0061', '@', '#', '$', '&', '*', '?', '~', '`a`', '<a/>', '<null>', '%22a%22', 'new Date()',
    'function(){}', '(1)', '({})', '/a/', ';', ':', ',', '.', '=', '|', '\\', '/',
  ]),
  ...all('number', 'no json', [
    '+1', '++1', '--1', '-', '+', '-+1', '- 1', '-a', '01', '00', '-01', '-00', '012', '1.', '.5', '-.5', '.', '-.',
    '1.e1', '.e1', '1e', '1e+', '1e-', '1E', '1e1.5', '1e1e1', '1eE2', '1ea', '1.2.3', '1..2', '0x10', '0X1', '0b1', '0o7',
    '1_000', '1,000', '1 000', '1f', '1n', '1L', '0.1.', '0e', '0e+', '0E', '0.e1', '1a', '1\0', 'NaN', '-NaN', 'Infinity',
    '-Infinity', '+Infinity', 'inf', '-inf', '\uFF11', '1\u0660', '\u00BD', '2.e+3', '1\u00B2', '0x', '-0x1', '1e\uFF11',
  ]),
  ...all('string', 'no json', [
    '"', '"a', 'a"', "'a'", "'", '"\\"', '"\\', '"\\a"', '"\\x41"', '"\\0"', '"\\v"', "\"\\'\"", '"\\u"', '"\\u1"', '"\\u12"',
    '"\\u123"', '"\\u123g"', '"\\uD83D\\u"', '"\\uD83D\\"', '"\\uD800\\x"', '"\\U00000041"', '"\\u{41}"', '"\\ "', '"\\\n"',
    '"\\\u00E9"', '"\n"', '"\r"', '"\t"', '"\b"', '"\f"', '"\0"', '"\u0001"', '"\u001F"', '"\u001B[0m"', '"a\nb"', '"a""b"',
    '"a" "b"', '"a"b', '\u201Ca\u201D', '\uFF02a\uFF02', '"""a"""', "''", '"a\'', '\'a"', '"\\u 041"', '"\\u-041"', '"\\u+041"',
  ]),
  ...all('array', 'no json', [
    '[', ']', '[[', '[]]', '[1', '1]', '[1,', '[,', '[,]', '[,1]', '[1,]', '[1,,2]', '[1,,]', '[1 2]', '[1;2]', '[1:2]', '["a":1]',
    '["a"', '["a",', '[a]', '[-]', '[*]', '[1}', '[}', '{]', '[1,\n', '[""', '["",', '["a"\n"b"]', '[1\u000B]', '[\f]', '[\u00A0]',
    '[\u2028]', '[\u200B]', '[\uFEFF]', '[3[4]]', '[1]]', '[1],', '[][]', '[]{}', '[1]x', '[...]', '[<null>]', '[tru]', '[\\n]',
    '[1,2', '(1,2)', '[1,2)', '\\u005B1]', '[ , ""]',
  ]),
  ...all('object', 'no json', [
    '{', '}', '{{', '{}}', '{"a"', '{"a"}', '{"a":', '{"a":}', '{"a" 1}', '{"a"=1}', '{"a"::1}', '{"a":1', '{"a":1,', '{"a":1,}',
    '{,}', '{,"a":1}', '{"a":1,,"b":2}', '{"a":1 "b":2}', '{"a":1;"b":2}', '{a:1}', "{'a':1}", '{1:1}', '{null:1}', '{true:1}',
    '{[]:1}', '{{}:1}', '{:1}', '{"a","b"}', '{"a":1]', '{"a":"b', '{"a":"b"', '{"a":\'b\'}', '{"a":b}', '{"a":1}}', '{"a":1}{}',
    '{"a":1}#', '{"a":1}/**/', '{"a":1}//', '{"a":1},', '{"a":1};', '{"a":1}"x"', '{} {}', '{}\n{}', '{"a":1\0}', '{"a"\0:1}',
    '{"a":/*x*/1}', '{/**/}', '{"a":1//x\n}', '# x\n{}', '// x\n{}', '/* x */{}', '{}/*', '<!-- -->{}', '{"a":1,"b"}', '{"a":1,"b":}',
    '{"a":(1)}', '{"a":+1}', '{"a":.1}', '{"a":undefined}', '{"a":NaN}', '{...{}}', '{"a"-1}', '{\u0000"a":1}', '{"a\n":1}',
    '{"a\\x":1}', '\u00EF\u00BB\u00BF{}', ")]}',\n{}", 'while(1);{}', 'callback({})', '{"a":1}\u0004', '\x1e{"a":1}', '{"a":1}\0',
  ]),
  ...all('white space', 'no json', ['\u000B[]', '\f[]', '\u00A0[]', '\u2028[]', '\u200B[]', '\u3000[]', '\u0085[]', '[]\u000B', '[]\u2060', '\x1a[]']),
  ...all('depth', 'no json', [
    '['.repeat(DEEP), ']'.repeat(DEEP), '{"a":'.repeat(DEEP), '[{"a":'.repeat(DEEP / 2), `${'['.repeat(DEEP)}${']'.repeat(DEEP - 1)}`,
    `${'['.repeat(DEEP)}${']'.repeat(DEEP + 1)}`, `${'['.repeat(DEEP)}${'}'.repeat(DEEP)}`, '"'.repeat(DEEP + 1), '\\'.repeat(DEEP),
    '-'.repeat(DEEP), '('.repeat(DEEP), '[,'.repeat(DEEP / 2),
  ]),
  // Bytes that are no UTF-8, where no text may stand at all.
  ...all('bytes', 'no json', [
    hex('5b ff 5d'), hex('5b e5 5d'), hex('5b 61 e5 5d'), hex('e5'), hex('ff'), hex('c0 80'), hex('ef bb'), hex('ef'), hex('31 e5'),
    hex('31 65 e5'), hex('7b 80 7d'), hex('22 5c e5 22'), hex('22 5c 75 e5 22'), hex('22 5c 75 31 e5 22'), hex('5b 31 2c e5 5d'),
    hex('7b 22 61 22 3a 80 7d'), hex('2d e5'), hex('fe ff'), hex('ff fe'), hex('00 00 fe ff'), hex('1f 8b 08 00'),
    hex('28 b5 2f fd'), hex('80 04 95'), hex('ef bb bf'),
  ]),
  ...all('coding', 'no json', [
    Buffer.from('{"a":1}', 'utf16le'), Buffer.from('\uFEFF{"a":1}', 'utf16le'), Buffer.from('{"a":1}', 'utf16le').swap16(),
    Buffer.from('\uFEFF{"a":1}', 'utf16le').swap16(), Buffer.from('[]', 'utf16le'), hex('5b 00 00 00 5d 00 00 00'),
    hex('00 00 00 5b 00 00 00 5d'), Buffer.from('+AHs-+AH0-'), Buffer.from('eyJhIjoxfQ=='), Buffer.from('%7B%7D'),
    Buffer.from('a=1&b=2'), Buffer.from('--x\r\nContent-Type: application/json\r\n\r\n{}\r\n--x--'),
  ]),
];

/** What readers treat as they like; it must only be answered. */
// prettier-ignore
const EITHER: JsonText[] = [
  ...all('number', 'either', ['1e309', '-1e309', '1e-400', '1e9999999999', '0e99999999999', `1${'0'.repeat(400)}`, '9'.repeat(50_000), `-1e-${'9'.repeat(500)}`, `1.${'7'.repeat(50_000)}`]),
  ...all('surrogate', 'either', [
    '"\\uD800"', '"\\uDC00"', '"\\uD800\\uD800"', '"\\uDC00\\uD800"', '"\\uD800a"', '"\\uD800\\n"', '"a\\uDFFF"', '"\\uDBFF\\u0061"',
    '{"\\uD800":1}', '{"\\uDFFF":1,"\\uD800":2}',
  ]),
  ...all('bytes in a string', 'either', [
    quoted('ff'), quoted('80'), quoted('c0 80'), quoted('c1 bf'), quoted('e0 80 80'), quoted('f0 80 80 80'), quoted('ed a0 80'),
    quoted('ed bf bf'), quoted('ed a0 bd ed b8 80'), quoted('f4 90 80 80'), quoted('f8 88 80 80 80'), quoted('fc 84 80 80 80 80'),
    quoted('e2 82'), quoted('f0 9f 98'), quoted('61 c3'), quoted('c3 28'), quoted('e9'), quoted('fe fe ff ff'), quoted('bf bf'),
    quoted('f5 80 80 80'), quoted('e2 28 a1'), quoted('f0 28 8c bc'),
  ]),
  ...all('byte order mark', 'either', [hex('ef bb bf 7b 7d'), hex('ef bb bf 5b 5d'), hex('ef bb bf ef bb bf 7b 7d'), hex('7b 7d ef bb bf')]),
];

export const JSON_TEXTS: readonly JsonText[] = [...READ, ...REFUSED, ...EITHER];
