// xterm writes its rules into <style> elements, which the page's policy forbids. This document gives it elements whose
// text becomes a constructed style sheet: made by script, as the policy allows, and with the same effect.

interface TerminalDocument {
  document: Document;
  /** Runs code that makes elements with the page's own document: xterm 6.0 does for its scroll bar while it opens. */
  during: (act: () => void) => void;
  release: () => void;
}

/** What xterm may make its elements with; the sheets go when their elements do. */
export function documentForTerminal(): TerminalDocument {
  const sheets = new Set<CSSStyleSheet>();
  const drop = (sheet: CSSStyleSheet): void => {
    sheets.delete(sheet);
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
  };
  const styleElement = (): HTMLElement => {
    const sheet = new CSSStyleSheet();
    sheets.add(sheet);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const element = document.createElement('span');
    element.hidden = true;
    Object.defineProperty(element, 'textContent', { set: (rules: string) => sheet.replaceSync(rules) });
    element.remove = () => {
      drop(sheet);
      HTMLElement.prototype.remove.call(element);
    };
    return element;
  };
  const proxy = new Proxy(document, {
    get(target, name) {
      if (name === 'createElement')
        return (tag: string) => (tag === 'style' ? styleElement() : target.createElement(tag));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
  const during = (act: () => void): void => {
    const make = document.createElement.bind(document) as (tag: string) => Element;
    Object.defineProperty(document, 'createElement', {
      configurable: true,
      value: (tag: string) => (tag === 'style' ? styleElement() : make(tag)),
    });
    try {
      act();
    } finally {
      Reflect.deleteProperty(document, 'createElement');
    }
  };
  return { document: proxy, during, release: () => [...sheets].forEach(drop) };
}
