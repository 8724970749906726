// Work that is done for what comes into view, such as colours: a folded call and an old message need none yet.

const waiting = new WeakMap<Element, () => void>();
/** A little earlier, so that the change is not seen. */
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      waiting.get(target)?.();
      waiting.delete(target);
    }
  },
  { rootMargin: '200px' },
);

/** Once. Returns the function that cancels it. */
export function whenSeen(element: Element, act: () => void): () => void {
  waiting.set(element, act);
  observer.observe(element);
  return () => {
    waiting.delete(element);
    observer.unobserve(element);
  };
}
