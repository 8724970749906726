export const stubFiles = (): [] => [];
