"""Labs for a class: exercises in the studio, a server for all students, and grading.

Its packages are in the layers of the core's with their names:

* `cli`: `longfat grade`, and the parts of `longfat labs`, `longfat studio` and `longfat schema`
* `studio.classroom`: the server of a class
* `studio.assignments`: exercises in the studio, as an extension of its application
* `output`: the page of a student, and the files of other services
* `analysis`: the grading of submissions
* `study`: instructors' files, rosters and answers
* `product`: the declaration that longfat reads; it imports no other module of these
"""
