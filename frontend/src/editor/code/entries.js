/** @returns {{ label: string, key: string, type: string, detail: string, info: string, apply: any }} what can be offered */
export const entry = (label, type, detail, info, apply = label) => ({ label, key: label.toLowerCase(), type, detail, info, apply });
