/** A file with one line lit. */
export const icon: string = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect x="5" y="2" width="22" height="28" rx="3" fill="#1f4f8f"/>
<g fill="#fff"><rect x="9" y="8" width="14" height="2" opacity=".55"/><rect x="9" y="14" width="14" height="4"/><rect x="9" y="22" width="10" height="2" opacity=".55"/></g>
</svg>
`;
