/** @returns {{ label: string, key: string, type: string, detail: string, info: string, apply: any }} an entry that completion can offer */
export const entry = (label, type, detail, info, apply = label) => ({ label, key: label.toLowerCase(), type, detail, info, apply });
