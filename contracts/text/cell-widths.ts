// How many columns of a terminal a character takes, as programs count them that draw tables and bars: wide are East Asian
// scripts and full-width forms (UAX #11), and what is drawn as an emoji, as of Unicode 9; by the tables of the engine that
// runs this, so that new emoji are known. For xterm, whose own tables are those of Unicode 6. Pure.

const WIDE =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Yi}\p{Script=Tangut}\p{Script=Nushu}\u1100-\u115f\uac00-\ud7a3\u2e80-\u303e\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|[\u3099-\u33ff]/u;
/** Half-width forms, and letters that make a flag in pairs. */
const NARROW = /[\p{Regional_Indicator}\u303f\uff61-\uffdc]/u;
/** Combining marks, joiners, selectors, and the vowels and finals of Korean syllables. */
const NONE = /(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff\ud7b0-\ud7ff]/u;
const EMOJI = /\p{Emoji}/u;
/** Makes an emoji of the character before it. */
const EMOJI_SELECTOR = 0xfe0f;

type CellWidth = 0 | 1 | 2;

/** As xterm keeps them: whether it joins the character before it, above that the width, then a state of ours. */
const JOINS = 1;
const BECOMES_EMOJI = 8;
const widthIn = (properties: number): CellWidth => ((properties >> 1) & 3) as CellWidth;

function propertiesOf(codePoint: number): number {
  const char = String.fromCodePoint(codePoint);
  const width = NONE.test(char) ? 0 : WIDE.test(char) && !NARROW.test(char) ? 2 : 1;
  return (width << 1) | (EMOJI.test(char) ? BECOMES_EMOJI : 0);
}

interface Widths {
  version: string;
  wcwidth(codePoint: number): CellWidth;
  charProperties(codePoint: number, preceding: number): number;
}

/** For `terminal.unicode`, with what one terminal has asked for: the expressions are slow. */
function cellWidths(): Widths {
  const known = new Map<number, number>();
  const knownProperties = (codePoint: number): number => {
    // Most text.
    if (codePoint >= 0x20 && codePoint < 0x7f) return 2;
    const before = known.get(codePoint);
    if (before !== undefined) return before;
    const properties = propertiesOf(codePoint);
    known.set(codePoint, properties);
    return properties;
  };
  return {
    version: 'current',
    wcwidth: (codePoint) => widthIn(knownProperties(codePoint)),
    charProperties(codePoint, preceding) {
      const properties = knownProperties(codePoint);
      if (widthIn(properties) > 0 || widthIn(preceding) === 0) return properties;
      const isEmoji = codePoint === EMOJI_SELECTOR && (preceding & BECOMES_EMOJI) > 0;
      return ((isEmoji ? 2 : widthIn(preceding)) << 1) | JOINS;
    },
  };
}

interface WithWidths {
  unicode: { activeVersion: string; register(provider: Widths): void };
}

export function useCellWidths({ unicode }: WithWidths): void {
  const widths = cellWidths();
  unicode.register(widths);
  unicode.activeVersion = widths.version;
}
