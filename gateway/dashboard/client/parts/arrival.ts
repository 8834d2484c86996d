import { useEffect, useRef } from 'preact/hooks';

let arrivals = 0;

/** A new page says where one is: its title in the window, its heading to the screen reader. The first one leaves the focus. */
export function useArrival(title: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title === 'Harkara' ? title : `${title} · Harkara`;
  }, [title]);
  useEffect(() => {
    if (arrivals++ === 0) return;
    scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return heading;
}
