// Keeps the end of a conversation in view: when it is opened, and while a person looks at its end.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

const NEAR_PX = 60;

const goToEnd = (): void => scrollTo(0, document.documentElement.scrollHeight);
const isAtEnd = (): boolean => innerHeight + scrollY >= document.documentElement.scrollHeight - NEAR_PX;

/**
 * @param isWanted whether the end is what is to be seen: no other place was asked for, and there is something
 * @param version changes with what is shown
 */
export function useFollowedEnd(isWanted: boolean, version: unknown): void {
  const isFollowing = useRef(false);
  useEffect(() => {
    if (!isWanted) return undefined;
    goToEnd();
    isFollowing.current = true;
    const look = (): void => void (isFollowing.current = isAtEnd());
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, [isWanted]);
  useLayoutEffect(() => {
    if (isWanted && isFollowing.current) goToEnd();
  }, [version]);
}
