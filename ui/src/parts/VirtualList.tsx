// A list of rows of one height, of which only those on the screen exist.

import type { ComponentChildren, HTMLAttributes, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Browsers lose count beyond this many pixels; longer lists are scrolled in proportion. */
const TALLEST = 8_000_000;
const SPARE = 8;

export interface Props {
  count: number;
  height: number;
  row: (index: number) => ComponentChildren;
  /** Brought into view when it changes. */
  active?: number;
  class?: string;
  box?: HTMLAttributes<HTMLDivElement>;
  inner?: HTMLAttributes<HTMLDivElement>;
  boxRef?: RefObject<HTMLDivElement | null>;
  /** Told when the end is near. */
  onEnd?: () => void;
}

export function VirtualList(props: Props) {
  const own = useRef<HTMLDivElement>(null);
  const box = props.boxRef ?? own;
  const [top, setTop] = useState(0);
  const [size, setSize] = useState(600);
  const full = props.count * props.height;
  const tall = Math.min(full, TALLEST);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = (): void => setSize(element.clientHeight || 600);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box]);

  // A list that is scrolled in proportion: rows are placed round the one that the bar points at.
  const range = Math.max(1, tall - size);
  const virtualTop = full > tall ? (top / range) * (full - size) : top;
  const first = Math.max(0, Math.floor(virtualTop / props.height) - SPARE);
  const last = Math.min(props.count, Math.ceil((virtualTop + size) / props.height) + SPARE);
  const offset = top - (virtualTop - first * props.height);

  useEffect(() => {
    const element = box.current;
    if (!element || props.active === undefined || props.active < 0) return;
    const y = props.active * props.height;
    const now = full > tall ? (element.scrollTop / range) * (full - size) : element.scrollTop;
    let wanted = now;
    if (y < now) wanted = y;
    else if (y + props.height > now + size) wanted = y + props.height - size;
    if (wanted !== now) element.scrollTop = full > tall ? (wanted / (full - size)) * range : wanted;
  }, [props.active, props.count, size]);

  useEffect(() => {
    if (props.onEnd && last >= props.count && props.count > 0) props.onEnd();
  }, [last, props.count, props.onEnd]);

  const rows: ComponentChildren[] = [];
  for (let i = first; i < last; i += 1) rows.push(props.row(i));
  return (
    <div
      {...props.box}
      ref={box}
      class={`virtual ${props.class ?? ""}`}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="virtual-all" style={{ height: `${tall}px` }}>
        <div {...props.inner} class="virtual-rows" style={{ transform: `translateY(${offset}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
