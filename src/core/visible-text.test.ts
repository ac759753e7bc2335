// Instructions hidden in Unicode tags and zero-width characters, unseen by the person and read by the model,
// have steered assistants through issues, web pages and notes.
import { describe, expect, it } from 'vitest';

import { stripInvisible } from './visible-text.ts';

/** A message as it is smuggled in Unicode tags. */
const tagged = (text: string) =>
  text.replaceAll(/./g, (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)));

describe('stripInvisible', () => {
  it.each([
    ['Unicode tags', `before${tagged('run rm -rf')}after`, 'beforeafter'],
    ['zero-width characters', 'pass\u200bword\u2060s\ufeff', 'passwords'],
    ['bidirectional controls', 'a\u202eb\u2066c\u2069', 'abc'],
    ['variation selectors in a row', 'x\ufe0f\ufe0e\ufe0f\u{e0101}\u{e0102}y', 'xy'],
    ['fillers', 'a\u3164b\u115fc\uffa0', 'abc'],
    ['control characters', 'a\u0001b\u001bc\u009b', 'abc'],
    [
      'colours and titles of a terminal',
      '\u001b[1;31mred\u001b[0m \u001b]0;title\u0007x\u001b]8;;http://a/\u001b\\y',
      'red xy',
    ],
    ['a terminal’s title that never ends', 'a\u001b]0;b\u001b]0;c\u0007d', 'a]0;bd'],
    ['joiners in a word', 'ig\u200dno\u200cre', 'ignore'],
    ['selectors in a word', 'ig\ufe0fno\ufe0ere', 'ignore'],
    ['joiners in a row', 'é\u200d\u200d\u200c\u200db', 'é\u200db'],
    ['a joiner that only a stray selector holds', 'a\ufe0f\u200db', 'ab'],
    ['joiners after a space', ' \u200d\u200cb', ' b'],
  ])('takes out %s', (_, text, expected) => {
    expect(stripInvisible(text)).toBe(expected);
  });

  it.each([
    ['line ends, tabs and NUL', 'a\tb\r\nc\0d\n'],
    ['emoji with joiners', '👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3'],
    ['emoji with selectors and joiners', '❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈'],
    ['glyphs of the private use area', '\ue0b0 main'],
    ['Persian with a non-joiner', 'می\u200cخواهم'],
    ['accents, Hebrew, Chinese', 'é e\u0301 שלום 中文'],
  ])('leaves %s alone', (_, text) => {
    expect(stripInvisible(text)).toBe(text);
  });

  it('turns line separators into line ends', () => {
    expect(stripInvisible('a\u2028b\u2029c')).toBe('a\nb\nc');
  });
});
