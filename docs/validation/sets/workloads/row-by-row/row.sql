\set number :operation + 1
\if :kind = 1
INSERT INTO rows VALUES ('a', 'b', 'c', :number, 0, 3);
\elif :kind = 2
UPDATE rows SET other = :number, b = 'abcdefghijkl', c = 'mnopqrstuvwx' WHERE a = 'a' AND b = 'b' AND number = :number AND other = 0;
\else
DELETE FROM rows WHERE a = 'a' AND b = 'abcdefghijkl' AND number = :number AND other = :number;
\endif
